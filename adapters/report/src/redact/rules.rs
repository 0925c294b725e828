//! The rules: what a secret looks like. The first rule that matches decides, so that a rule without a secret is an
//! exception from those after it.

use super::names::Kind::{Key, Strong, Token, Weak};
use super::pattern::Part::{
    self, Ahead, Any, Attached, Before, Behind, Either, End, Free, If, IsOption, IsQuoted, Kinds,
    Lines, Maybe, Named, Next, Not, Nothing, Random, Read, Run, Secret, Sets, Since, Spaces, Tag,
    Text, Unnamed, Until, Value,
};
use super::pattern::{
    AHEAD, BASE64, CAPITALS, Class, DIGITS, DOTTED, HEX, LETTERS, MANY, MARKS, SIGN, WORD,
    is_random, run,
};
use super::symbol::Symbol;
use super::values::Form::{Argument, Content, Half, Last, Line, Typed, Word};
use super::values::{NOTHING, is_reference};

/// What a rule finds, its pattern, and an example with the secret in `‹›`. A test runs it.
pub(super) type Rule = (&'static str, &'static [Part], &'static str);

/// Keys of services: the service, the prefixes of its keys, the fewest characters after a prefix, and their class.
#[rustfmt::skip]
pub(super) const KEYS: &[(&str, &[&str], usize, Class)] = &[
    // Code hosts and registries of packages.
    ("GitHub", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], 16, LETTERS),
    ("GitHub, for some repositories", &["github_pat_"], 16, WORD),
    ("GitLab", &["glpat-", "glrt-"], 16, DOTTED),
    ("GitLab, for a program", &["gldt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-"], 16, WORD),
    ("Bitbucket", &["ATBB"], 24, WORD),
    ("Atlassian", &["ATATT3"], 24, BASE64),
    ("npm, RubyGems", &["npm_", "rubygems_"], 20, LETTERS),
    ("PyPI, Buildkite", &["pypi-", "bkua_"], 20, WORD),
    ("Docker, CircleCI", &["dckr_pat_", "CCIPAT_"], 16, WORD),
    ("crates.io", &["cio"], 32, LETTERS),
    ("Clojars", &["CLOJARS_"], 30, WORD),
    ("NuGet", &["oy2"], 40, LETTERS),
    ("Sentry", &["sntrys_", "sntryu_"], 20, BASE64),
    // Clouds.
    ("AWS", &["AKIA", "ASIA", "ABIA", "ACCA"], 12, CAPITALS),
    ("AWS Bedrock", &["ABSK"], 40, BASE64),
    ("Google", &["AIza", "1//0"], 20, WORD),
    ("Google OAuth", &["ya29."], 16, DOTTED),
    ("Google OAuth, a code", &["4/0A"], 20, WORD),
    ("Google OAuth, of a client", &["GOCSPX-"], 16, WORD),
    ("DigitalOcean", &["dop_v1_", "doo_v1_", "dor_v1_"], 20, LETTERS),
    ("Tailscale", &["tskey-"], 12, WORD),
    ("Vault, Doppler, Heroku", &["hvs.", "hvb.", "hvr.", "dp.pt.", "HRKU-"], 16, WORD),
    ("Doppler, of a service", &["dp.st."], 16, DOTTED),
    ("Pulumi", &["pul-"], 30, HEX),
    ("Fly, Supabase, Netlify", &["fo1_", "sbp_", "nfp_"], 20, LETTERS),
    ("Fly, of a machine", &["fm2_"], 20, BASE64),
    ("PlanetScale", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], 16, DOTTED),
    ("Databricks", &["dapi"], 32, HEX),
    ("Cloudflare", &["v1.0-"], 30, WORD),
    // Language models.
    ("Anthropic, OpenAI", &["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-"], 8, WORD),
    ("OpenRouter", &["sk-or-"], 12, WORD),
    ("Hugging Face, Groq, xAI", &["hf_", "gsk_", "xai-"], 20, LETTERS),
    ("Perplexity, Replicate", &["pplx-", "r8_"], 20, LETTERS),
    ("LangSmith", &["lsv2_pt_", "lsv2_sk_"], 16, WORD),
    // Messages, payments and other services.
    ("Slack", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxe-", "xapp-"], 10, WORD),
    ("Slack, of a cookie", &["xoxd-"], 10, BASE64),
    ("Slack, of a configuration", &["xoxe."], 10, DOTTED),
    ("Stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_"], 10, LETTERS),
    ("Stripe, of a webhook", &["whsec_"], 16, BASE64),
    ("SendGrid", &["SG."], 20, DOTTED),
    ("Shopify", &["shpat_", "shpss_", "shpca_", "shppa_"], 16, LETTERS),
    ("Square, Figma", &["sq0atp-", "sq0csp-", "figd_"], 16, WORD),
    ("Square, of a seller", &["EAAA"], 40, WORD),
    ("Facebook", &["EAACEdEose0cBA"], 10, WORD),
    ("Brevo, Contentful", &["xkeysib-", "CFPAT-"], 20, WORD),
    ("Linear", &["lin_api_"], 16, LETTERS),
    ("Notion, Adafruit, ReadMe", &["ntn_", "aio_", "rdme_"], 20, LETTERS),
    ("Notion, of an integration", &["secret_"], 32, LETTERS),
    ("Postman, New Relic, Grafana", &["PMAK-", "NRAK-", "glsa_"], 16, WORD),
    ("Grafana Cloud", &["glc_"], 20, BASE64),
    ("Typeform, Dynatrace", &["tfp_", "dt0c01."], 20, DOTTED),
    ("PNU, WakaTime, EasyPost", &["pnu_", "waka_", "EZAK"], 20, LETTERS),
    ("Flutterwave", &["FLWSECK"], 16, WORD),
    ("age", &["AGE-SECRET-KEY-1"], 20, CAPITALS),
    ("1Password", &["ops_eyJ"], 20, WORD),
    ("Mailgun", &["key-"], 32, HEX),
    ("Twilio", &["SK"], 32, HEX),
    ("Patch", &["patch_"], 64, LETTERS),
    ("hashes of passwords", &["$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$argon2"], 20, BASE64),
];

/// Secrets that are recognised by their shape, wherever they begin.
#[rustfmt::skip]
pub(super) const SHAPES: &[Rule] = &[
    ("a private key",
        &[Text("-----BEGIN "), Run(TITLE, 0, 40), If(|title| title.contains("PRIVATE KEY")), Text("-----"), Lines,
          Run(LETTERS, 4, 4), Until("-----END "), Maybe("-----END "), Run(TITLE, 0, 40), Maybe("-----")],
        "‹-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----›\n"),
    ("the user and the password of a URL",
        &[Text("://"), Secret, Read(userinfo), If(has_password), End, Text("@")],
        "https://‹me:hunter2›@host/"),
    ("a key with a common prefix",
        &[Any(&["sk-", "sk_", "pk-", "pk_", "rk-", "rk_"]), Run(WORD, 12, LONG), If(has_key), Run(WORD, 0, MANY)],
        "‹sk-abcdefghijklmnopqrstuvwxyz012345›"),
    ("a JSON Web Token",
        &[Text("eyJ"), Run(WORD, 7, LONG), Text("."), Run(WORD, 4, 4), Run(DOTTED, 0, MANY)],
        "‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig›"),
    ("a bot of Telegram",
        &[Run(DIGITS, 8, 10), Text(":"), Run(WORD, 30, 40), Not(WORD)],
        "‹123456789:AAEabcdefghijklmnopqrstuvwxyz012345›"),
    ("a bot of Telegram in an address",
        &[Text("bot"), Secret, Run(DIGITS, 8, 10), Text(":"), Run(WORD, 30, 40), Not(WORD)],
        "api.telegram.org/bot‹123456789:AAEabcdefghijklmnopqrstuvwxyz012345›/getMe"),
    ("a bearer token, also on its next line",
        &[Any(BEARER), Ahead(Symbol::is_space), Lines, Maybe("\\"), Lines, Secret, Run(BASE64, 6, MANY), If(is_token)],
        "sent a bearer ‹abc123def› in clear"),
    ("a bearer token that a program joins",
        &[Any(BEARER), Spaces(1), Run(MARKS, 1, 4), Spaces(0), Text("+"), Spaces(0), Run(MARKS, 1, 4), Secret,
          Run(BASE64, 6, MANY), If(is_token)],
        r#"headers["Authorization"] = "Bearer " + "‹abc123def›""#),
    ("a user and a password in base64",
        &[Any(&["Basic", "basic", "BASIC"]), Ahead(Symbol::is_space), Lines, Secret, Run(BASE64, 4, MANY), If(has_colon)],
        "sent basic ‹bWU6aHVudGVyMg==› in clear"),
    ("the address of a chat that takes messages from anyone",
        &[Any(&["hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/",
                "outlook.office.com/webhook/"]), Secret, Run(PATH, 8, MANY)],
        "https://hooks.slack.com/services/‹T000/B000/hunter2›"),
    ("a user, a password and a host",
        &[Free("=(<"), Run(DOTTED, 1, 64), Ahead(is_colon), If(is_user), Text(":"), Secret, Read(password), End,
          Text("@"), Run(HOST, 1, AHEAD), If(is_host)],
        "scp to me:‹hunter2›@db.example.com now"),
    ("a line of a file with the passwords of databases",
        &[Free(""), Run(FIELD, 1, AHEAD), Ahead(is_colon), If(is_named), Text(":"), Run(FIELD, 1, 5), If(is_port),
          Text(":"), Run(FIELD, 1, AHEAD), If(is_named), Text(":"), Run(FIELD, 1, AHEAD), If(is_named), Text(":"),
          Secret, Run(FIELDS, 1, AHEAD)],
        "localhost:5432:db:me:‹hunter2›"),
    ("the input of a command",
        &[Text("<<<"), Since(READERS), Spaces(0), Value(Argument)],
        "base64 -d <<< ‹aHVudGVyMg==›"),
    ("the input of a command with the name of a secret",
        &[Text("<<<"), Since(&["assw", "ASSW", "ecret", "ECRET", "oken", "OKEN"]), Spaces(0), Value(Argument)],
        "read -r PASSWORD <<< ‹hunter2›"),
];

/// Secrets right after the name of a command.
#[rustfmt::skip]
pub(super) const CALLS: &[(&[&str], &[Rule])] = &[
    (&["echo", "printf"], &[("what a command reads that reads or decodes a secret",
        &[Spaces(1), Maybe("-n "), Run(MARKS, 0, 2), Secret, Run(PIPED, 1, AHEAD), End, Text("|"),
          Run(LINE, 1, AHEAD), If(reads_secret)],
        "echo '‹my hunter2›' | sudo -S make")]),
    (&["send"], &[
        ("what a script of expect types after a prompt",
            &[Since(&["assword", "assphrase", "PIN"]), Spaces(1), Maybe("-- "), Ahead(Symbol::quotes), Value(Typed(1))],
            r#"expect "Password:"; send -- "‹my hunter2›\n""#),
        ("a word that a script of expect types",
            &[Spaces(1), Maybe("-- "), Ahead(Symbol::quotes), Value(Typed(4))],
            r#"expect -c 'send "‹hunter2›\r"'"#),
    ]),
    (&["htpasswd"], &[("the last argument", &[Value(Last(Some('b'), 2))], "htpasswd -bc f me ‹hunter2›")]),
    (&["mosquitto_passwd"],
        &[("the last argument", &[Value(Last(Some('b'), 3))], "mosquitto_passwd -b f me ‹hunter2›")]),
    (&["vault"], &[("the token of a login",
        &[Next, Maybe("\""), Text("login"), Value(Last(None, 1))],
        "vault login -no-print ‹hunter2›")]),
    (&["cargo"], &[("the token of a login", &[Next, Text("login"), Value(Last(None, 1))], "cargo login ‹hunter2›")]),
    (&["doctl"], &[("the token of a login",
        &[Next, Text("auth"), Next, Text("init"), Spaces(1), Text("-t"), Next, Value(Argument)],
        "doctl auth init -t ‹hunter2›")]),
    (&["bw"], &[
        ("the password of a login", &[Next, Text("login"), Value(Last(None, 2))], "bw login me@x.org ‹hunter2›"),
        ("the password", &[Next, Text("unlock"), Value(Last(None, 1))], "bw unlock ‹hunter2›"),
    ]),
    (&["rabbitmqctl"], &[("the password of a user",
        &[Next, Any(&["add_user", "change_password"]), Value(Last(None, 2))],
        "rabbitmqctl add_user me ‹hunter2›")]),
    (&["rclone"], &[("the password", &[Next, Text("obscure"), Value(Last(None, 1))], "rclone obscure ‹hunter2›")]),
    (&["openssl"], &[("the password", &[Next, Text("passwd"), Value(Last(None, 1))], "openssl passwd -6 ‹hunter2›")]),
    (&["mc"], &[("the key of a service",
        &[Next, Text("alias"), Next, Text("set"), Value(Last(None, 4))],
        "mc alias set m http://h me ‹hunter2›")]),
    (&["net"], &[("the password of a user",
        &[Next, Text("user"), Next, Run(DOTTED, 1, AHEAD), Next, Not(SLASH), Value(Argument)],
        "net user me ‹hunter2› /add")]),
    (&["sqlplus"], &[("a user and a password",
        &[Next, Run(DOTTED, 1, 64), Text("/"), Secret, Run(|byte| FIELDS(byte) && byte != b'@', 1, AHEAD)],
        "sqlplus me/‹hunter2›@db")]),
    (&["snmp-server"],
        &[("a community", &[Next, Text("community"), Next, Value(Argument)], "snmp-server community ‹hunter2› RO")]),
    (&["ansible-vault"],
        &[("a text", &[Next, Text("encrypt_string"), Next, Value(Argument)], "ansible-vault encrypt_string '‹hunter2›'")]),
    (&["convert-to-secure-string"],
        &[("a text", &[Spaces(1), Ahead(Symbol::quotes), Value(Argument)], "ConvertTo-SecureString \"‹hunter2›\" -Force")]),
    (&["network-credential", "http-basic-auth", "set-basic-auth", "basic-auth"], &[("the second argument of a call",
        &[Text("("), Run(MARKS, 1, AHEAD), Run(FIELD, 1, AHEAD), Run(MARKS, 1, AHEAD), Text(","), Spaces(0),
          Ahead(Symbol::quotes), Value(Argument)],
        "new NetworkCredential(\"me\", \"‹hunter2›\")")]),
    (&["oathtool", "mkpasswd"],
        &[("the last argument", &[Value(Last(None, 1))], "oathtool --totp -b ‹JBSWY3DPEHPK3PXP›")]),
    (&["wpa_passphrase"], &[("the second argument", &[Value(Last(None, 2))], "wpa_passphrase home ‹hunter22›")]),
];

/// Secrets in the options of commands that are on the line. A word with a sign is an option itself.
#[rustfmt::skip]
pub(super) const OPTIONS: &[(&[&str], &[Rule])] = &[
    (&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"], &[
        ("a password in the same word", &[Text("-p"), Attached, Value(Argument)], "mysql -uroot -p‹hunter2› db"),
        ("a question for the password", &[Text("-p"), Nothing], "mysql -u root -p db"),
    ]),
    (&["7z", "7za", "7zz", "rar", "unrar"],
        &[("a password in the same word", &[Any(&["-p", "-hp"]), Attached, Value(Argument)], "7z x -p‹hunter2› a.7z")]),
    (&["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "rabbitmqadmin", "login"],
        &[("a password", &[Text("-p"), Either, Value(Argument)], "sshpass -p ‹hunter2› ssh h")]),
    (&["redis-cli", "valkey-cli"], &[("a password", &[Text("-a"), Next, Value(Argument)], "redis-cli -a ‹hunter2› ping")]),
    (&["curl"], &[
        ("a user and a password, after other letters",
            &[Text("-"), Run(SWITCHES, 0, AHEAD), Any(&["u", "U"]), Either, Value(Half(':'))],
            "curl -su admin:‹hunter2› https://x"),
        ("a user and a password, in words",
            &[Any(&["--user", "--proxy-user", "--cert"]), Next, Value(Half(':'))],
            "curl --user=me:‹hunter2› h"),
        ("a cookie", &[Text("-b"), Either, Value(Half('='))], "curl -b x=‹hunter2› https://x"),
        ("a cookie, in words", &[Text("--cookie"), Next, Value(Half('='))], "curl --cookie 'sid=‹hunter2›' https://x"),
    ]),
    (&["etcdctl"], &[("a user and a password", &[Text("--user"), Next, Value(Half(':'))], "etcdctl --user=me:‹hunter2› get x")]),
    (&["lftp"], &[("a user and a password", &[Text("-u"), Next, Value(Half(','))], "lftp -u me,‹hunter2› ftp://h")]),
    (&["http", "https", "httpie", "xh"], &[
        ("a user and a password", &[Text("-a"), Either, Value(Half(':'))], "http -a me:‹hunter2› x"),
        ("a user and a password, in words", &[Text("--auth"), Next, Value(Half(':'))], "http --auth me:‹hunter2› x"),
    ]),
    (&["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"],
        &[("a password or a community", &[Any(&["-A", "-X", "-c"]), Next, Value(Argument)], "snmpwalk -v2c -c ‹hunter2› h")]),
    (&["ldappasswd"], &[("a new password", &[Any(&["-s", "-a"]), Next, Value(Argument)], "ldappasswd -s ‹hunter2›")]),
    (&["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd", "security"],
        &[("a password", &[Text("-w"), Either, Value(Argument)], "ldapsearch -D cn=me -w ‹hunter2›")]),
    (&["zip", "unzip", "sqlcmd", "bcp", "mosquitto_pub", "mosquitto_sub", "ipmitool"],
        &[("a password", &[Text("-P"), Either, Value(Argument)], "unzip -P ‹hunter2› a.zip")]),
    (&["smbclient", "rpcclient"],
        &[("a user and a password", &[Text("-U"), Either, Value(Half('%'))], "smbclient //h/s -U me%‹hunter2›")]),
    (&["openssl"], &[("a password", &[Text("-k"), Next, Value(Argument)], "openssl enc -k ‹hunter2› -in x")]),
    (&["ssh-keygen"], &[("a password", &[Any(&["-N", "-P"]), Next, Value(Argument)], "ssh-keygen -N ‹hunter2›")]),
    (&["useradd", "usermod"], &[("a password", &[Text("-p"), Next, Value(Argument)], "useradd -p ‹hunter2› me")]),
    (&["secret"], &[
        ("the value of a secret", &[Any(&["-b", "--body"]), Next, Value(Argument)], "gh secret set X -b ‹hunter2›"),
        ("the value of a secret, after its name", &[Text("--from-literal"), Next, Value(Half('='))],
            "kubectl create secret generic x --from-literal=key=‹hunter2›"),
    ]),
    (&["-u", "-user", "-username", "-uroot"], &[
        ("a port", &[Text("-p"), Next, Run(PORT, 1, AHEAD), Not(WORD), Nothing], "docker run -u me -p 80:80 x"),
        ("a path", &[Text("-p"), Next, Run(DOTTED, 0, AHEAD), Text("/"), Nothing], "tool -u me -p src/x"),
        ("a password after a user", &[Text("-p"), Next, Value(Argument)], "tool -u me -p ‹hunter2›"),
    ]),
];

/// Secrets after a name of a secret. A pattern begins after the quotation marks and brackets of the name.
#[rustfmt::skip]
pub(super) const NAMED: &[Rule] = &[
    ("a string of a property list",
        &[Text("</key>"), Lines, Text("<string>"), Value(Content)],
        "<key>password</key>\n<string>‹hunter2›</string>"),
    ("an element", &[Tag, Text(">"), Ahead(is_solid), Value(Content)], "<soap:Password>‹hunter2›</soap:Password>"),
    ("an element with spaces",
        &[Tag, Text(">"), Lines, Secret, Run(CONTENT, 1, MANY), End, Text("</")],
        "<password> ‹my hunter2› </password>"),
    ("the name of an argument", &[Tag, Text(">"), Nothing], "usage: login <user> <password> [--force]"),
    ("an element with attributes",
        &[Tag, Spaces(1), Run(ATTRIBUTES, 0, AHEAD), Text(">"), Value(Content)],
        "<Password type=\"text\">‹my hunter2›</Password>"),
    ("a part of a path",
        &[Kinds(&[Strong, Token, Key]), Run(SLASH, 1, 1), Secret, Run(LETTERS, 20, AHEAD), If(|part| is_random(part, 20))],
        "/srv/private_key/‹3f2a1bc4d5e6f7a8b9c0›/x"),
    ("a path in a program", &[Text("::"), Nothing], "use password::hash;"),
    ("the name of a scheme", &[Text("://"), Nothing], "secret://x"),
    ("an option of Windows", &[Behind(&[" /"]), Text(":"), Ahead(is_solid), Value(Word)], "msiexec /password:‹hunter2›"),
    ("a message about a file", &[Behind(&["/", "\\"]), Spaces(0), Text(":"), Nothing], "/etc/passwd: Permission denied"),
    ("a message about a missing secret", &[Before(1, &["no"]), Spaces(0), Text(":"), Nothing],
        "there is no secret: set UNSTUCK_SECRET"),
    ("a token that a parser did not expect",
        &[Kinds(&[Token]), Before(1, PARSERS), Spaces(0), Run(SIGN, 1, 1), Spaces(1), Random(8), Value(Word)],
        "invalid token: ‹abc12345def›"),
    ("a token of a parser", &[Kinds(&[Token]), Before(1, PARSERS), Spaces(0), Run(SIGN, 1, 1), Spaces(1), Nothing],
        "Unexpected token: identifier"),
    ("a variable with a type",
        &[Spaces(0), Run(SIGN, 1, 2), Spaces(0), Run(TYPE, 1, AHEAD), If(is_type), Spaces(0), Text("="), Value(Line)],
        "password: str = \"‹hunter2›\""),
    ("a parameter with a type",
        &[Spaces(0), Run(SIGN, 1, 2), Spaces(0), Run(TYPE, 1, AHEAD), If(is_type), Spaces(0), Ahead(ends_type), Nothing],
        "fn login(password: &str, token: String) {}"),
    ("an assignment with a colon", &[Spaces(0), Text(":="), Value(Line)], "password := \"‹hunter2›\""),
    ("a member of JSON", &[IsQuoted, Spaces(0), Text(":"), Value(Line)], r#"{"password":‹my hunter2›}"#),
    ("a member of YAML", &[Spaces(0), Text(":"), Ahead(Symbol::is_space), Value(Line)], "password: ‹my hunter2›"),
    ("a word after a colon", &[Spaces(0), Text(":"), Value(Word)], "password:‹hunter2›"),
    ("a comparison", &[Spaces(0), Text("!="), Spaces(0), Ahead(Symbol::quotes), Value(Word)],
        "password != \"‹hunter2›\""),
    ("a variable of a shell", &[Text("="), Run(SIGNS, 0, 3), Ahead(is_solid), Value(Word)], "PASSWORD=‹hunter2› run"),
    ("an assignment", &[Spaces(0), Text("="), Run(SIGNS, 0, 3), Value(Line)], "password = ‹my hunter2›"),
    ("an arrow", &[Spaces(1), Any(&["->", "→"]), Value(Line)], "password -> ‹hunter2›"),
    ("a call that sets it", &[Sets, Text("("), Ahead(Symbol::quotes), Value(Word)], "user.setPassword(\"‹hunter2›\");"),
    ("an option in a list", &[IsOption, IsQuoted, Spaces(0), Text(","), Lines, Ahead(Symbol::quotes), Value(Argument)],
        r#"["tool","--password","‹my hunter2›","db"]"#),
    ("the first argument of a call that sets it",
        &[Behind(&["(\"", "('", "(`", "(\\\""]), Spaces(0), Text(","), Lines, Ahead(Symbol::quotes), Value(Argument)],
        "os.environ.setdefault('TOKEN', '‹hunter2›')"),
    ("an item after an option", &[IsOption, Spaces(0), Text("\n"), Lines, Text("- "), Spaces(0), Value(Argument)],
        "- --password\n- ‹hunter2›\n"),
    ("a name that is quoted", &[IsQuoted, Nothing], "the \"password\" is \"always required\""),
    ("an option without a value", &[IsOption, Spaces(1), Any(&["--", "|", ">", "<", "&", ";", ")", ",", "."]), Nothing],
        "tool --token --verbose"),
    ("another option", &[IsOption, Spaces(1), Text("-"), Run(LETTERS, 0, 1), Not(WORD), Nothing], "tool --token -v"),
    ("a sentence about an option", &[IsOption, Spaces(1), Any(PROSE), Not(WORD), Nothing], "use --token to log in"),
    ("a secret that docker reads", &[IsOption, Named(&["secret"]), Spaces(1), Any(&["id=", "type="]), Nothing],
        "docker build --secret id=x,src=y ."),
    ("an option", &[IsOption, Spaces(1), Value(Argument)], "tool --token ‹hunter2›"),
    ("a variable of another shell, or of a container",
        &[Before(1, &["setenv", "env", "arg", "gx", "x", "ux"]), Spaces(1), Value(Argument)],
        "set -gx API_TOKEN ‹hunter2›"),
    ("a setting",
        &[Kinds(&[Strong, Token, Weak]), Unnamed(&["password", "token"]), Before(1, &["git", "config", "set"]), Spaces(1), Value(Argument)],
        "git config user.password ‹hunter2›"),
    ("a random word in a sentence about a user",
        &[Named(&["password", "passwd"]), Before(1, &["or", "and"]), Spaces(1), Random(6), Value(Argument)],
        "user and password ‹hunter2›"),
    ("a sentence about a user", &[Named(&["password", "passwd"]), Before(1, &["or", "and"]), Spaces(1), Nothing],
        "another user or password (invalid pair)"),
    ("a login for a machine",
        &[Named(&["password", "passwd"]), Before(2, &["login", "machine", "account", "default", "user"]), Spaces(1), Value(Argument)],
        "machine h\nlogin me\npassword ‹hunter›"),
    ("a default login", &[Named(&["password", "passwd"]), Before(1, &["default"]), Spaces(1), Value(Argument)],
        "default password ‹hunter›"),
    ("words in quotation marks", &[Kinds(&[Strong]), Before(1, DEFINES), Spaces(1), Ahead(Symbol::quotes), Value(Argument)],
        "ALTER USER me WITH PASSWORD '‹hunter›';"),
    ("the configuration of npm", &[Kinds(&[Token]), Behind(&["/:"]), Spaces(1), Value(Argument)],
        "npm config set //r/:_authToken ‹hunter2›"),
    ("the answer to a prompt", &[Kinds(&[Strong]), Spaces(1), Text("for "), Run(PERSON, 1, AHEAD), Text(": "), Value(Line)],
        "[sudo] password for me: ‹hunter2›"),
    ("the answer to a prompt about a user",
        &[Kinds(&[Strong]), Spaces(1), Text("of "), Run(DOTTED, 1, AHEAD), Text(": "), Value(Line)],
        "password of root: ‹hunter2›"),
    ("the answer to a prompt with a remark",
        &[Kinds(&[Strong]), Spaces(1), Text("("), Run(REMARK, 1, AHEAD), Text("): "), Random(5), Value(Line)],
        "Passphrase (empty for none): ‹hunter2›"),
    ("a line of a configuration",
        &[Named(&["requirepass", "masterauth", "rootpw", "bindpw"]), Spaces(1), Value(Argument)],
        "requirepass ‹hunter›"),
    ("a command of Redis", &[Named(&["auth"]), Since(&["redis-cli"]), Spaces(1), Value(Argument)],
        "redis-cli AUTH ‹hunter2›"),
    ("a shared key", &[Named(&["psk"]), Spaces(1), Ahead(Symbol::quotes), Value(Argument)],
        "wpa_cli set_network 0 psk '‹\"hunter2\"›'"),
    ("a password of Cisco, after the number of its code",
        &[Named(&["password", "secret"]), Spaces(1), Run(DIGITS, 1, 1), Spaces(1), Random(6), Value(Argument)],
        "username me password 7 ‹094F471A1A0A›"),
    ("the type of a column", &[Spaces(1), Any(&["VARCHAR", "varchar", "CHAR", "char"]), Nothing], "password VARCHAR(255)"),
    ("a word that looks random",
        &[Named(&["password", "passwd", "passphrase", "passwort"]), Spaces(1), Random(6), Value(Argument)],
        "the password ‹hunter2›"),
    ("a random word after a name that has no other meaning",
        &[Named(CERTAIN), Spaces(1), Ahead(begins_word), Random(6), Value(Argument)],
        "api-token ‹hunter2abc›"),
    ("a sentence with quotation marks",
        &[Kinds(&[Strong, Token]), Spaces(1), Any(IS), Ahead(Symbol::quotes), Value(Argument)],
        "the token is \"‹hunter›\""),
    ("a sentence with a word that looks random",
        &[Kinds(&[Strong, Token]), Spaces(1), Any(IS), Random(5), Value(Argument)],
        "the password was ‹hunter2›"),
];

/// Commands that read a secret from their input, or decode one.
const READERS: &[&str] = &texts![
    "--password-stdin" "sudo -S" "--stdin" "chpasswd" "--with-token" "--passphrase-fd" "htpasswd -i"
    "smbpasswd -s" "vault login -" "cryptsetup " "kinit " "ssh-add" "pass insert" "base64 -d" "base64 -D" "base64 --decode"
];

/// Words after an option in a sentence about it.
const PROSE: &[&str] = &texts![
    "flag" "options" "option" "argument" "parameter" "or" "and" "is" "to" "for" "in" "on" "if" "when"
    "as" "with"
];

/// Words before a token that a parser prints.
const PARSERS: &[&str] = &texts![
    "unexpected" "invalid" "expired" "missing" "unknown" "illegal" "bad" "next" "current" "syntax"
    "expected" "unrecognized"
];

/// Words before a name whose value is in quotation marks.
const DEFINES: &[&str] = &texts![
    "identified" "define" "with" "encrypted" "set" "the" "my" "your" "a" "new" "old" "by" "using"
];

/// Names of secrets that are nothing else, word by word.
const CERTAIN: &[&str] = &texts![
    "apikey" "api key" "api token" "api secret" "access key" "access token" "refresh token"
    "auth token" "session token" "client secret" "app secret" "secret key" "shared secret"
    "webhook secret"
];

/// Spellings of the scheme of a token in a header.
const BEARER: &[&str] = &["Bearer", "bearer", "BEARER"];

const IS: &[&str] = &["is ", "was ", "IS "];

/// The most bytes of a part of a key.
const LONG: usize = 1024;

const TITLE: Class = |byte| CAPITALS(byte) || byte == b' ';
const PATH: Class = |byte| DOTTED(byte) || b"/@".contains(&byte);
const HOST: Class = |byte| DOTTED(byte) || byte == b'(';
const FIELD: Class = |byte| FIELDS(byte) && byte != b':';
const FIELDS: Class = |byte| {
    !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'/' | b',' | b'{' | b'}' | b'(' | b')')
        && byte > b' '
};
const ADDRESS: Class = |byte| !byte.is_ascii_whitespace() && !b"\"'`<>\\|".contains(&byte);
const LINE: Class = |byte| byte != b'\n';
const PIPED: Class = |byte| byte != b'\n' && byte != b'|';
const PORT: Class = |byte| DIGITS(byte) || b":.-/,tcpud".contains(&byte);
const ATTRIBUTES: Class = |byte| !b"<>/\n".contains(&byte);
/// Letters of curl that are options without a value.
const SWITCHES: Class = |byte| b"fgikLnNsSvIOJR#".contains(&byte);
const SLASH: Class = |byte| b"/\\".contains(&byte);
const SIGNS: Class = |byte| b"=>~".contains(&byte);
const TYPE: Class = |byte| LETTERS(byte) || b"_[]<>&?".contains(&byte);
/// The contents of an element.
const CONTENT: Class = |byte| byte != b'<';
/// The remark of a prompt.
const REMARK: Class = |byte| byte != b')' && byte != b'\n';
const PERSON: Class = |byte| DOTTED(byte) || b" @'\"".contains(&byte);

fn is_colon(symbol: Symbol) -> bool {
    symbol.c == ':'
}

fn begins_word(symbol: Symbol) -> bool {
    symbol.c.is_alphanumeric() || symbol.quotes()
}

fn is_solid(symbol: Symbol) -> bool {
    !symbol.is_space()
}

fn is_type(word: &str) -> bool {
    NOTHING.contains(&word)
}

fn ends_type(symbol: Symbol) -> bool {
    "\n),;}|".contains(symbol.c)
}

fn reads_secret(command: &str) -> bool {
    READERS.iter().any(|reader| command.contains(reader))
}

/// Returns whether a part of `key` is long, with a digit or a capital letter.
fn has_key(key: &str) -> bool {
    let is_mixed = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    key.split(['-', '_']).any(|part| part.len() >= 12 && part.bytes().any(is_mixed))
}

/// Returns whether the word after `Bearer` is no word of a sentence.
fn is_token(word: &str) -> bool {
    is_random(word, 6) || word.len() >= 20
}

/// Returns whether `base64` has a colon in it once it is decoded.
fn has_colon(base64: &str) -> bool {
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut found) = (0_u32, 0, false);
    for byte in base64.trim_end_matches('=').bytes() {
        let Some(sextet) = sextet(byte) else { return false };
        bits = (bits << 6 | sextet) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count) & 0xff;
            // Control characters are no part of a name.
            if decoded < 0x20 {
                return false;
            }
            found |= decoded == u32::from(b':');
        }
    }
    found
}

/// Returns the length of the user and the password at the begin of the address `rest`: up to the last `@` before the
/// path, or the first one after what only seems to be the path.
fn userinfo(rest: &str) -> Option<usize> {
    let address = &rest[..run(rest, 0, ADDRESS, LONG)];
    let address = address.split("://").next()?;
    let (host, _) = address.split_at(address.find(['/', '?', '#']).unwrap_or(address.len()));
    host.rfind('@').or_else(|| {
        let (user, port) = host.split_once(':')?;
        let is_password = user.is_empty() || !port.bytes().all(DIGITS);
        address.find('@').filter(|_| is_password)
    })
}

/// Returns whether the user of an address has a password, or is a token.
fn has_password(user: &str) -> bool {
    match user.split_once(':') {
        Some((_, password)) => {
            !password.is_empty() && !is_reference(password) && !user.contains("&quot;")
        }
        None => is_random(user, 16),
    }
}

/// Returns the length of the password before a host.
fn password(rest: &str) -> Option<usize> {
    let end = run(rest, 0, |byte| ADDRESS(byte) && byte != b'/', LONG);
    rest[..end].rfind('@').filter(|length| *length >= 3)
}

/// Returns whether `word` is a user, and no scheme.
fn is_user(word: &str) -> bool {
    !["mailto", "sip", "sips", "xmpp", "acct", "npm", "workspace", "file", "link"].contains(&word)
}

/// Returns whether `host` has the name or the number of a host, or is a connection in brackets.
fn is_host(host: &str) -> bool {
    let name = host.split('(').next().unwrap_or_default().trim_end_matches('.');
    let is_named = name.rsplit_once('.').is_some_and(|(before, top)| {
        !before.is_empty() && top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    let is_number = name.split('.').count() == 4
        && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name == "localhost"
        || is_named
        || is_number
        || host.starts_with("tcp(")
        || host.starts_with("unix(")
}

/// Returns whether `field` is a name, or stands for every name.
fn is_named(field: &str) -> bool {
    field == "*" || field.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_port(field: &str) -> bool {
    field == "*" || field.len() >= 4 && field.bytes().all(DIGITS)
}
