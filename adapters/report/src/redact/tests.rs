//! Tables of secrets and of other text, and the laws that hold for all text.

use proptest::prelude::*;
use proptest::sample::select;

use super::rules::{CALLS, KEYS, NAMED, OPTIONS, SHAPES};
use super::symbol::steps;
use super::values::REFERENCES;
use super::{MASK, masked};

/// Texts with secrets, and the same texts without them.
#[rustfmt::skip]
const SECRETS: &[(&str, &str)] = &[
    // Members of JSON.
    (r#"{"password":"hunter2"}"#, r#"{"password":"•••"}"#),
    (r#"{"password": "hunter2"}"#, r#"{"password": "•••"}"#),
    (r#"{"password":"a,hunter2"}"#, r#"{"password":"•••"}"#),
    (r#"{"password":"my hunter2"}"#, r#"{"password":"•••"}"#),
    (r#"{"password":"abc;hunter2","x":1}"#, r#"{"password":"•••","x":1}"#),
    (r#"{"password":"a\"hunter2","x":1}"#, r#"{"password":"•••","x":1}"#),
    (r#"{"password":"a\\","x":1}"#, r#"{"password":"•••","x":1}"#),
    (r#"{"password":"a}hunter2","x":1}"#, r#"{"password":"•••","x":1}"#),
    (r#"{"password":"\u0068unter2"}"#, r#"{"password":"•••"}"#),
    (r#"{"pass\u0077ord":"hunter2"}"#, r#"{"pass\u0077ord":"•••"}"#),
    (r#"{"password":"hunt"#, r#"{"password":"•••"#),
    (r#"{"password":12345678}"#, r#"{"password":•••}"#),
    (r#"{"password":12345678,"x":1}"#, r#"{"password":•••,"x":1}"#),
    (r#"{"passwords":["a","hunter2"],"x":1}"#, r#"{"passwords":[•••],"x":1}"#),
    (r#"{"password":{"value":"hunter2"},"x":1}"#, r#"{"password":{•••},"x":1}"#),
    (r#"{"secret":{"a":["}","hunter2"]},"x":1}"#, r#"{"secret":{•••},"x":1}"#),
    (r#"{"credentials":{"user":"me","key":"hunter2"}}"#, r#"{"credentials":{•••}}"#),
    (r#"{"auth":{"user":"me","password":"hunter2"}}"#, r#"{"auth":{"user":"me","password":"•••"}}"#),
    (r#"{"db":{"admin":{"dbPassword":"hunter2"}}}"#, r#"{"db":{"admin":{"dbPassword":"•••"}}}"#),
    (r#"{"api_key":"abc123","q":"x"}"#, r#"{"api_key":"•••","q":"x"}"#),
    (r#"{"apiKey":"abc123"}"#, r#"{"apiKey":"•••"}"#),
    (r#"{"APIKey":"abc123"}"#, r#"{"APIKey":"•••"}"#),
    (r#"{"x-api-key":"abc123"}"#, r#"{"x-api-key":"•••"}"#),
    (r#"{"clientSecret":"hunter2"}"#, r#"{"clientSecret":"•••"}"#),
    (r#"{"client_secret_value":"hunter2"}"#, r#"{"client_secret_value":"•••"}"#),
    (r#"{"accessToken":"hunter2"}"#, r#"{"accessToken":"•••"}"#),
    (r#"{"refresh_token":"hunter2","token_type":"bearer"}"#, r#"{"refresh_token":"•••","token_type":"bearer"}"#),
    (r#"{"new_password":"a","password_confirmation":"hunter2"}"#, r#"{"new_password":"•••","password_confirmation":"•••"}"#),
    (r#"{"SecretString":"hunter2"}"#, r#"{"SecretString":"•••"}"#),
    (r#"{"AccountKey":"aHVudGVyMg=="}"#, r#"{"AccountKey":"•••"}"#),
    (r#"{"Authorization":"Bearer hunter2"}"#, r#"{"Authorization":"Bearer •••"}"#),
    (r#"{"Authorization":"hunter2"}"#, r#"{"Authorization":"•••"}"#),
    (r#"{"headers":{"Authorization":"ApiKey hunter2","Accept":"*/*"}}"#, r#"{"headers":{"Authorization":"ApiKey •••","Accept":"*/*"}}"#),
    (r#"{"Cookie":"sid=hunter2; a=b","x":1}"#, r#"{"Cookie":"•••","x":1}"#),
    (r#"{"private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n","x":1}"#, r#"{"private_key":"•••","x":1}"#),
    (r#"{"private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQ"#, r#"{"private_key":"•••"#),
    (r#"{"name":"DB_PASSWORD","value":"hunter2"}"#, r#"{"name":"DB_PASSWORD","value":"•••"}"#),
    (r#"{"value":"hunter2","name":"DB_PASSWORD"}"#, r#"{"value":"•••","name":"DB_PASSWORD"}"#),
    (r##"{"selector":"#password","text":"hunter2"}"##, r##"{"selector":"#password","text":"•••"}"##),
    (r#"{"element":"Password field","ref":"e12","text":"my hunter2"}"#, r#"{"element":"Password field","ref":"e12","text":"•••"}"#),
    ("{\n  \"password\": \"hunter2\",\n  \"x\": 1\n}", "{\n  \"password\": \"•••\",\n  \"x\": 1\n}"),
    // JSON in a string of JSON.
    (r#"{"body":"{\"password\":\"hunter2\"}"}"#, r#"{"body":"{\"password\":\"•••\"}"}"#),
    (r#"{"body":"{\"password\":\"a,hunter2\",\"x\":1}"}"#, r#"{"body":"{\"password\":\"•••\",\"x\":1}"}"#),
    (r#"{"body":"{\"password\":\"a\\\"hunter2\",\"x\":1}"}"#, r#"{"body":"{\"password\":\"•••\",\"x\":1}"}"#),
    (r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"my hunter2\\\"}\"}"}"#, r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"•••\\\"}\"}"}"#),
    (r#"{"body":"{\"token\":[\"hunter2\"]}"}"#, r#"{"body":"{\"token\":[•••]}"}"#),
    (r"{\u0022password\u0022:\u0022hunter2\u0022}", r"{\u0022password\u0022:\u0022•••\u0022}"),
    ("{&quot;password&quot;:&quot;hunter2&quot;}", "{&quot;password&quot;:&quot;•••&quot;}"),
    ("q=%7B%22password%22%3A%22hunter2%22%7D", "q=%7B%22password%22%3A%22•••%22%7D"),
    // Variables of a shell.
    ("PASSWORD=hunter2", "PASSWORD=•••"),
    ("export PASSWORD=hunter2", "export PASSWORD=•••"),
    ("export DB_PASSWORD='my hunter2'; run", "export DB_PASSWORD='•••'; run"),
    ("DB_PASS=hunter2 DB_PWD=hunter3 run", "DB_PASS=••• DB_PWD=••• run"),
    ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=••• psql -h db"),
    ("MYSQL_PWD=hunter2 mysql", "MYSQL_PWD=••• mysql"),
    ("PASSWORD=a\"b c\"hunter2 run", "PASSWORD=••• run"),
    ("PASSWORD='it'\\''s hunter2' run", "PASSWORD='•••' run"),
    ("PASSWORD=my\\ hunter2 run", "PASSWORD=••• run"),
    ("PASSWORD=a,hunter2 run", "PASSWORD=••• run"),
    ("PASSWORD=a;hunter2", "PASSWORD=•••"),
    ("set -gx API_TOKEN hunter2", "set -gx API_TOKEN •••"),
    ("setenv API_TOKEN hunter2", "setenv API_TOKEN •••"),
    ("$env:API_TOKEN = \"hunter2\"", "$env:API_TOKEN = \"•••\""),
    ("set PASSWORD=hunter2", "set PASSWORD=•••"),
    ("ENV DB_PASSWORD hunter2", "ENV DB_PASSWORD •••"),
    ("docker run -e DB_PASSWORD=hunter2 -p 80:80 x", "docker run -e DB_PASSWORD=••• -p 80:80 x"),
    ("SECRET_KEY_BASE=hunter2", "SECRET_KEY_BASE=•••"),
    ("SECRET_KEY=hunter2\nDEBUG=1", "SECRET_KEY=•••\nDEBUG=1"),
    ("API_KEY_PROD=hunter2", "API_KEY_PROD=•••"),
    (r#"{"command":"export GITHUB_TOKEN=abcdef && ls"}"#, r#"{"command":"export GITHUB_TOKEN=••• && ls"}"#),
    (r#"{"command":"TOKEN=hunter2\nmake"}"#, r#"{"command":"TOKEN=•••\nmake"}"#),
    (r#"{"command":"export TOKEN=\"my hunter2\" && ls"}"#, r#"{"command":"export TOKEN=\"•••\" && ls"}"#),
    // Options of commands.
    ("mysql --password hunter2 db", "mysql --password ••• db"),
    ("mysql --password=hunter2 db", "mysql --password=••• db"),
    ("mysql --password='my hunter2' db", "mysql --password='•••' db"),
    ("tool --password \"my hunter2\" db", "tool --password \"•••\" db"),
    ("tool --db-password hunter2", "tool --db-password •••"),
    ("tool --token=hunter2", "tool --token=•••"),
    ("tool --token hunter2 --verbose", "tool --token ••• --verbose"),
    ("tool --api-key hunter2", "tool --api-key •••"),
    ("tool --apikey=hunter2", "tool --apikey=•••"),
    ("tool --client-secret hunter2", "tool --client-secret •••"),
    ("java -password hunter2 -jar x", "java -password ••• -jar x"),
    ("msiexec /password:hunter2", "msiexec /password:•••"),
    ("openssl rsa -passin pass:hunter2 -in k", "openssl rsa -passin ••• -in k"),
    (r#"["tool","--password","my hunter2","db"]"#, r#"["tool","--password","•••","db"]"#),
    (r#"{"argv":"[\"--token\", \"hunter2\"]"}"#, r#"{"argv":"[\"--token\", \"•••\"]"}"#),
    ("args:\n  - --password\n  - hunter2\n", "args:\n  - --password\n  - •••\n"),
    ("mysql -uroot -phunter2 db", "mysql -uroot -p••• db"),
    ("mongosh -u root -p hunter2 db", "mongosh -u root -p ••• db"),
    ("mysqldump -uroot -p'my hunter2' db", "mysqldump -uroot -p'•••' db"),
    ("sshpass -p hunter2 ssh x", "sshpass -p ••• ssh x"),
    ("sshpass -phunter2 ssh x", "sshpass -p••• ssh x"),
    ("sshpass -p 'my hunter2' ssh x", "sshpass -p '•••' ssh x"),
    ("redis-cli -a hunter2 ping", "redis-cli -a ••• ping"),
    ("docker login -u me -p hunter2 host", "docker login -u me -p ••• host"),
    ("tool -u me -p hunter2", "tool -u me -p •••"),
    ("htpasswd -bc .htpasswd me hunter2", "htpasswd -bc .htpasswd me •••"),
    (r#"["htpasswd","-nb","me","hunter2"]"#, r#"["htpasswd","-nb","me","•••"]"#),
    (r#"{"command":"mosquitto_passwd -b f me hunter2 && ls"}"#, r#"{"command":"mosquitto_passwd -b f me ••• && ls"}"#),
    ("vault login hunter2", "vault login •••"),
    ("vault login -no-print 'hunter2' | cat", "vault login -no-print '•••' | cat"),
    ("oathtool --totp -b JBSWY3DPEHPK3PXP", "oathtool --totp -b •••"),
    ("wpa_passphrase home hunter22", "wpa_passphrase home •••"),
    ("echo aHVudGVyMg== | base64 -d", "echo ••• | base64 -d"),
    ("base64 --decode <<< aHVudGVyMg==", "base64 --decode <<< •••"),
    (r#"expect "assword:"; send "hunter2\r""#, r#"expect "assword:"; send "•••\r""#),
    (r#"expect "Password:"; send -- "my hunter2\n""#, r#"expect "Password:"; send -- "•••\n""#),
    (r#"{"command":"expect -c 'send \"hunter2\\r\"'"}"#, r#"{"command":"expect -c 'send \"•••\\r\"'"}"#),
    ("curl -s -u admin:hunter2 https://x", "curl -s -u admin:••• https://x"),
    ("curl --user admin:hunter2 https://x", "curl --user admin:••• https://x"),
    ("curl -u 'admin:my hunter2' https://x", "curl -u 'admin:•••' https://x"),
    (r#"["curl","-u","admin:hunter2","https://x"]"#, r#"["curl","-u","admin:•••","https://x"]"#),
    ("curl -b 'sid=hunter2' https://x", "curl -b 'sid=•••' https://x"),
    ("http -a me:hunter2 x", "http -a me:••• x"),
    ("wget --http-password=hunter2 x", "wget --http-password=••• x"),
    ("ldapsearch -D cn=me -w hunter2", "ldapsearch -D cn=me -w •••"),
    ("unzip -P hunter2 a.zip", "unzip -P ••• a.zip"),
    ("smbclient //h/s -U me%hunter2", "smbclient //h/s -U me%•••"),
    ("git config user.password hunter2", "git config user.password •••"),
    ("kubectl create secret generic x --from-literal=password=hunter2", "kubectl create secret generic x --from-literal=password=•••"),
    // Headers.
    ("Authorization: Bearer hunter2", "Authorization: Bearer •••"),
    ("Authorization: ApiKey hunter2", "Authorization: ApiKey •••"),
    ("authorization: hunter2", "authorization: •••"),
    ("Authorization: Basic aHVudGVyMg==", "Authorization: Basic •••"),
    ("Authorization: Digest username=\"me\", response=\"hunter2\"", "Authorization: Digest •••"),
    ("Proxy-Authorization: Basic aHVudGVyMg==\nHost: x", "Proxy-Authorization: Basic •••\nHost: x"),
    ("curl -H 'Authorization: Bearer abc.def-123'", "curl -H 'Authorization: Bearer •••'"),
    ("curl -H \"X-Api-Key: hunter2\" host", "curl -H \"X-Api-Key: •••\" host"),
    ("curl -H 'PRIVATE-TOKEN: hunter2' host", "curl -H 'PRIVATE-TOKEN: •••' host"),
    (r#"{"command":"curl -H \"Authorization: token hunter2\" https://x"}"#, r#"{"command":"curl -H \"Authorization: token •••\" https://x"}"#),
    (r#"{"raw":"GET / HTTP/1.1\r\nAuthorization: Bearer hunter2\r\nHost: x"}"#, r#"{"raw":"GET / HTTP/1.1\r\nAuthorization: Bearer •••\r\nHost: x"}"#),
    ("headers[\"Authorization\"] = \"Bearer hunter2\"", "headers[\"Authorization\"] = \"Bearer •••\""),
    ("headers={'Authorization': f'Bearer hunter2'}", "headers={'Authorization': •••'}"),
    ("Cookie: sid=0123456789", "Cookie: •••"),
    ("Cookie: a=b; sid=hunter2", "Cookie: •••"),
    ("Set-Cookie: sid=hunter2; Path=/; HttpOnly", "Set-Cookie: •••"),
    ("X-Vault-Token: hunter2", "X-Vault-Token: •••"),
    ("X-Amz-Security-Token: hunter2", "X-Amz-Security-Token: •••"),
    ("sent a bearer abc123def in clear", "sent a bearer ••• in clear"),
    ("sent basic bWU6aHVudGVyMg== in clear", "sent basic ••• in clear"),
    // URLs.
    ("git clone https://me:secret99@host/x", "git clone https://•••@host/x"),
    ("redis://:hunter2@h", "redis://•••@h"),
    ("redis://:hunter2@h:6379/0", "redis://•••@h:6379/0"),
    ("postgres://me:hun/ter2@db:5432/x", "postgres://•••@db:5432/x"),
    ("postgres://me:hun@ter2@db:5432/x", "postgres://•••@db:5432/x"),
    ("mongodb+srv://me:hunter2@c.net/?w=1", "mongodb+srv://•••@c.net/?w=1"),
    ("amqp://me:hun%40ter2@h/v", "amqp://•••@h/v"),
    ("https:\\/\\/me:hunter2@h\\/x", "https:\\/\\/•••@h\\/x"),
    ("https://a1b2c3d4e5f6a7b8c9d0@github.com/x", "https://•••@github.com/x"),
    ("https://x/y?sig=abcdef&z=1", "https://x/y?sig=•••&z=1"),
    ("https://x/y?access_token=hunter2#top", "https://x/y?access_token=•••"),
    ("https://x/y?a=1&api_key=hunter2&z=1", "https://x/y?a=1&api_key=•••&z=1"),
    ("https://x/y?a=1&amp;token=hunter2&amp;z=1", "https://x/y?a=1&amp;token=•••&amp;z=1"),
    (r#"{"url":"https://x/?token=hunter2\u0026z=1"}"#, r#"{"url":"https://x/?token=•••\u0026z=1"}"#),
    ("https://x/?next=%2Fa%3Ftoken%3Dhunter2%26z%3D1", "https://x/?next=%2Fa%3Ftoken%3D•••%26z%3D1"),
    ("https://s3/x?X-Amz-Signature=abcdef0123", "https://s3/x?X-Amz-Signature=•••"),
    ("https://hooks.slack.com/services/T000/B000/hunter2", "https://hooks.slack.com/services/•••"),
    ("user[password]=hunter2&x=1", "user[password]=•••&x=1"),
    ("me:hunter2@tcp(127.0.0.1:3306)/db", "me:•••@tcp(127.0.0.1:3306)/db"),
    ("scp to me:hunter2@db.example.com now", "scp to me:•••@db.example.com now"),
    // YAML, TOML, INI, properties.
    ("password: hunter2", "password: •••"),
    ("password: my hunter2", "password: •••"),
    ("db:\n  password: my hunter2\n  port: 1", "db:\n  password: •••\n  port: 1"),
    ("password: 'it''s hunter2'\nport: 1", "password: '•••'\nport: 1"),
    ("password: |\n  my\n  hunter2\nport: 1", "password: |\n  •••\nport: 1"),
    ("password: >-\n  hunter2\n\n  more\nport: 1", "password: >-\n  •••\nport: 1"),
    ("passwords:\n- a\n- hunter2\nport: 1", "passwords:\n•••\nport: 1"),
    ("password: !vault |\n  $ANSIBLE_VAULT;1.1\n  6638\nport: 1", "password: !vault |\n  •••\nport: 1"),
    (r#"{"yaml":"password: |\n  hunter2\nport: 1"}"#, r#"{"yaml":"password: |\n  •••\nport: 1"}"#),
    ("- name: DB_PASSWORD\n  value: hunter2\n", "- name: DB_PASSWORD\n  value: •••\n"),
    ("{user: me, password: hunter2, port: 1}", "{user: me, password: •••, port: 1}"),
    ("password = \"my hunter2\"", "password = \"•••\""),
    ("password = \"\"\"my\nhunter2\"\"\"\nport = 1", "password = \"\"\"•••\"\"\"\nport = 1"),
    ("password = my hunter2\nport = 1", "password = •••\nport = 1"),
    ("spring.datasource.password=hunter2", "spring.datasource.password=•••"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = •••"),
    ("//registry.npmjs.org/:_authToken=hunter2", "//registry.npmjs.org/:_authToken=•••"),
    ("API key: hunter2", "API key: •••"),
    ("seed phrase: correct horse battery staple", "seed phrase: •••"),
    // Other files and languages.
    ("machine h login me password hunter2", "machine h login me password •••"),
    ("machine h\nlogin me\npassword hunter2\n", "machine h\nlogin me\npassword •••\n"),
    ("default login me password hunter2", "default login me password •••"),
    ("localhost:5432:db:me:hunter2", "localhost:5432:db:me:•••"),
    ("root:$6$saltsalt$hashhashhashhashhash/x.:19000:0", "root:•••:19000:0"),
    ("<password>hunter2</password>", "<password>•••</password>"),
    ("<Password type=\"text\">my hunter2</Password>", "<Password type=\"text\">•••</Password>"),
    ("<key>password</key>\n<string>hunter2</string>", "<key>password</key>\n<string>•••</string>"),
    ("<add key=\"Password\" value=\"hunter2\"/>", "<add key=\"Password\" value=\"•••\"/>"),
    ("<input name=\"password\" value=\"my hunter2\">", "<input name=\"password\" value=\"•••\">"),
    ("Server=h;User Id=me;Password=hunter2;Port=1", "Server=h;User Id=me;Password=•••;Port=1"),
    ("Server=h;Uid=me;Pwd=hunter2;", "Server=h;Uid=me;Pwd=•••;"),
    ("AccountName=x;AccountKey=aHVudGVyMg==;EndpointSuffix=y", "AccountName=x;AccountKey=•••;EndpointSuffix=y"),
    ("Endpoint=sb://x/;SharedAccessKey=aHVudGVyMg==", "Endpoint=sb://x/;SharedAccessKey=•••"),
    ("host=h user=me password=hunter2 dbname=x", "host=h user=me password=••• dbname=x"),
    ("host=h user=me password='my hunter2' dbname=x", "host=h user=me password='•••' dbname=x"),
    ("jdbc:mysql://h/x?user=me&password=hunter2&ssl=1", "jdbc:mysql://h/x?user=me&password=•••&ssl=1"),
    ("CREATE USER me IDENTIFIED BY 'my hunter2'", "CREATE USER me IDENTIFIED BY '•••'"),
    ("ALTER USER me WITH PASSWORD 'hunter2';", "ALTER USER me WITH PASSWORD '•••';"),
    ("client = Client(api_key=\"hunter2\", x=1)", "client = Client(api_key=\"•••\", x=1)"),
    ("config['password'] = 'hunter2'", "config['password'] = '•••'"),
    ("os.environ[\"API_TOKEN\"] = \"hunter2\"", "os.environ[\"API_TOKEN\"] = \"•••\""),
    ("password: str = \"hunter2\"", "password: str = \"•••\""),
    (":password => \"hunter2\"", ":password => \"•••\""),
    ("let password := \"hunter2\"", "let password := \"•••\""),
    ("user.setPassword(\"hunter2\");", "user.setPassword(\"•••\");"),
    ("const API_KEY = `hunter2`;", "const API_KEY = `•••`;"),
    ("password: “my hunter2”", "password: “•••”"),
    ("the password is hunter2", "the password is •••"),
    ("wrong password: hunter2", "wrong password: •••"),
    ("Passwort: hunter2", "Passwort: •••"),
    ("contraseña: hunter2", "contraseña: •••"),
    ("пароль: hunter2", "пароль: •••"),
    ("pass\u{200B}word: hunter2", "pass\u{200B}word: •••"),
    ("key=0123456789abcdef0123456789abcdef", "key=•••"),
    ("echo hunter2 | docker login -u me --password-stdin", "echo ••• | docker login -u me --password-stdin"),
    ("echo 'my hunter2' | sudo -S make", "echo '•••' | sudo -S make"),
    ("requests.get(u, auth=('me', 'hunter2'))", "requests.get(u, auth=•••)"),
    ("os.environ.setdefault('TOKEN', 'hunter2')", "os.environ.setdefault('TOKEN', '•••')"),
    ("request.header(\"X-Api-Key\", \"hunter2\")", "request.header(\"X-Api-Key\", \"•••\")"),
    ("curl --data-urlencode 'password=my hunter2' h", "curl --data-urlencode 'password=•••' h"),
    ("gh auth login --with-token <<< hunter2", "gh auth login --with-token <<< •••"),
    ("#define PASSWORD \"hunter2\"", "#define PASSWORD \"•••\""),
    ("<property name=\"password\">hunter2</property>", "<property name=\"password\">•••</property>"),
    ("npm config set //r/:_authToken hunter2", "npm config set //r/:_authToken •••"),
    ("[sudo] password for me: hunter2", "[sudo] password for me: •••"),
    ("openssl enc -k hunter2 -in x", "openssl enc -k ••• -in x"),
    // Private keys.
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpA\nhunter2\n-----END RSA PRIVATE KEY-----\nmore", "•••\nmore"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA\n", "•••"),
    ("-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMHcC\n-----END EC PRIVATE KEY-----", "•••"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQdG\n-----END PGP PRIVATE KEY BLOCK-----", "•••"),
    ("-----BEGIN PRIVATE KEY----- MIIEvQ -----END PRIVATE KEY----- x", "••• x"),
    (r#"echo "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----" > k"#, r#"echo "•••" > k"#),
    // Keys with the prefixes of services.
    ("AKIAIOSFODNN7EXAMPLE", "•••"),
    // In addresses and paths.
    ("https://api.telegram.org/bot123456789:AAEabcdefghijklmnopqrstuvwxyz012345/sendMessage", "https://api.telegram.org/bot•••/sendMessage"),
    ("/srv/backup_AKIAIOSFODNN7EXAMPLE.csv", "/srv/backup_•••.csv"),
    ("cat /tmp/key_ghp_0123456789abcdefABCDEF0123.txt", "cat /tmp/key_•••.txt"),
    ("cat /home/me/keys/sk-ant-api03-abcdefgh12345/x.txt", "cat /home/me/keys/•••/x.txt"),
    ("/var/lib/app/private_key/3f2a1bc4d5e6f7a8b9c0d1e2f3a4b5c6/meta", "/var/lib/app/private_key/•••/meta"),
    // On the next line.
    ("Authorization: Bearer\n abcdef123456hunter2", "Authorization: Bearer\n •••"),
    (r#"{"header":"Authorization: Bearer\r\n\tabcdef123456hunter2"}"#, r#"{"header":"Authorization: Bearer\r\n\t•••"}"#),
    ("Authorization: Basic\n bWU6aHVudGVyMg==", "Authorization: Basic\n •••"),
    ("curl -H \"Authorization: Bearer \\\n  abcdef123456hunter2\"", "curl -H \"Authorization: Bearer \\\n  •••\""),
    (r#"{"command":"curl -H \"Authorization: Bearer \\\n hunter2abc\""}"#, r#"{"command":"curl -H \"Authorization: Bearer \\\n •••\""}"#),
    ("tok=hunter2abc", "tok=•••"),
    ("webhook-secret hunter2", "webhook-secret •••"),
    ("refresh_token abc123def", "refresh_token •••"),
    ("apikey hunter2", "apikey •••"),
    ("STRIPE_SK=Hx7Qp2vLm9Zt4KdW", "STRIPE_SK=•••"),
    ("verification code: 483920", "verification code: •••"),
    ("password of me: hunter2", "password of me: •••"),
    ("self.token = \"hunter2\"", "self.token = \"•••\""),
    ("self.token = token_hunter2", "self.token = •••"),
    ("spring.datasource.password=password", "spring.datasource.password=•••"),
    ("PASSWORD=password run", "PASSWORD=••• run"),
    ("<password>\n  hunter2\n</password>", "<password>\n  •••</password>"),
    ("ASIAIOSFODNN7EXAMPLE", "•••"),
    ("ghp_abcdefghijklmnopqrstuvwx", "•••"),
    ("use gho_abcdefghijklmnopqrstuvwx now", "use ••• now"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnop", "•••"),
    ("glpat-abcdefghij0123456789", "•••"),
    ("xoxb-1234567890-abcdefghij", "•••"),
    ("xapp-1-A000-1234567890-abcdef", "•••"),
    ("sk-abcdefghijklmnopqrstuvwxyz012345", "•••"),
    ("sk-proj-abcdefgh_ijkl-mnop", "•••"),
    ("sk-ant-api03-abcdefghijklmnop", "•••"),
    ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "•••"),
    ("ya29.a0AfH6SMBabcdefghijkl", "•••"),
    ("GOCSPX-abcdefghijklmnopqrst", "•••"),
    ("sk_live_abcdefghijklmnop", "•••"),
    ("rk_test_abcdefghijklmnop", "•••"),
    ("whsec_abcdefghijklmnop", "•••"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "•••"),
    ("pypi-AgEIcHlwaS5vcmcCJGFiY2Q", "•••"),
    ("hf_abcdefghijklmnopqrstuvwx", "•••"),
    ("dop_v1_0123456789abcdef0123456789abcdef", "•••"),
    ("shpat_0123456789abcdef0123456789abcdef", "•••"),
    ("SG.abcdefghijklmnop.qrstuvwxyz0123456789", "•••"),
    ("hvs.abcdefghijklmnopqrstuvwx", "•••"),
    ("dckr_pat_abcdefghijklmnopqrstuvwx", "•••"),
    ("AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQ", "•••"),
    ("123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "•••"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "•••"),
    (r#"{"out":"line\nghp_abcdefghijklmnopqrstuvwx\n"}"#, r#"{"out":"line\n•••\n"}"#),
];

/// Texts that are no secrets.
#[rustfmt::skip]
const INNOCENT: &[&str] = &[
    "htpasswd -D .htpasswd me",
    "htpasswd -c .htpasswd me",
    "vault login -method=oidc",
    "vault login $VAULT_TOKEN",
    "vault status",
    "send \"yes please\\r\"",
    "send \"ls\"",
    "please send \"the report\" today",
    "oathtool --version",
    "echo hello | base64",
    "src/token/parser_v2.rs",
    "/run/secrets/2026-11-27-report-of-all-teams.txt",
    "the bearer\nof this letter",
    "tok = lexer.next()",
    "tok = tokenizer(text)",
    "token = tokens[i]",
    "token=next(it)",
    "self.token = token",
    "self._password = password",
    "this.apiKey = apiKey;",
    "connect(user=user, password=password)",
    "ERR AUTH <password> called without any password configured for the default user",
    "it takes another user or password (WRONGPASS invalid username-password pair or user is disabled.)",
    "usage: login <user> <password> [--force]",
    "Password: required",
    "kubectl get secret my-app-v2",
    "error code: 483920",
    "the secret of the swarm has fewer than 16 bytes: give all its workers the same",
    "--- FAIL: test_get_random_secret_key (user_commands2.tests.UtilsTests)",
    "20260206-secrets-redaction 96f18cc6 a comment",
    "if password != other:",
    "my_pul_request",
    r#"{"path":"src/token.rs","limit":20}"#,
    r#"{"max_tokens":4096,"token_count":17,"tokenizer":"cl100k"}"#,
    r#"{"usage":{"prompt_tokens":12,"completion_tokens":34}}"#,
    r#"{"tokens":[1,2,3],"n":5}"#,
    r#"{"token":17}"#,
    r#"{"password":null,"secret":"","token":true}"#,
    r#"{"key":"value","keys":["a","b"]}"#,
    r#"{"primary_key":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}"#,
    r#"{"name":"get_token","text":"hello"}"#,
    r#"{"author":"me","authority":"x","authorized":true}"#,
    r#"{"secretName":"tls","secretKeyRef":{"name":"a","key":"b"}}"#,
    r#"{"id":"550e8400-e29b-41d4-a716-446655440000"}"#,
    r#"{"image":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA"}"#,
    r#"{"password_file":"/run/p","token_url":"https://x/token","passwordPolicy":"long"}"#,
    "max_tokens: 5",
    "token_limit = 5",
    "const TOKENS: usize = 5;",
    "println!(\"token: {token}\");",
    "pytest tests/test_auth.py::test_token -k password",
    "curl -u $USER:$PASS https://x",
    "input_tokens: 8\n  79 output_tokens: 1",
    "tokenizer.json",
    "pad_token: [PAD]",
    "Unexpected token: identifier",
    "SyntaxError: Unexpected token } in JSON at position 5",
    "git commit -m \"rotate password docs\"",
    "git commit -m \"auth: rotate the docs\"",
    "feat(token): count them",
    "grep -rn password src",
    "grep -rn \"api_key\" src",
    "cat /etc/passwd",
    "/etc/passwd: Permission denied",
    "src/password.rs:10:5: error",
    "password_test.go:7: FAIL",
    "secret.txt: No such file",
    "bypass: yes, compass=north, author: me",
    "12 passed, 0 failed; pass: 12",
    "PWD=/home/me make",
    "mkdir -p build/out",
    "docker run -p 8080:80 -v /a:/b x",
    "ssh -p 22 me@host.example.com",
    "git clone git@github.com:me/x.git",
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
    "git show 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
    "sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a0987654329f8e7d6c5b4a392817000000",
    "https://example.org/a:b@c",
    "http://localhost:8080/@scope/pkg",
    "npm install @scope/pkg@1.2.3",
    "ask-me-anything, task-force-of-many-people",
    "sk-learn and pk-fields",
    "mailto:me@example.org",
    "export PASSWORD=$DB_PASSWORD",
    "curl -H \"Authorization: Bearer $TOKEN\"",
    "curl -H \"Authorization: Bearer ${TOKEN}\"",
    "password: ${{ secrets.DB_PASSWORD }}",
    "api_key = os.getenv(\"API_KEY\")",
    "let token = lexer.next_token();",
    "password: <your password>",
    "def login(user: str, password: str) -> None:",
    "fn f(token: &str, password: String) {}",
    "fetch(url, { credentials: 'include' })",
    "use std::password::hash;",
    "The password is required.",
    "use the --password flag, or --token to log in",
    "basic authentication and bearer tokens",
    "tool --password-stdin --token-file t",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCC\n-----END CERTIFICATE-----",
    "grep -r \"BEGIN RSA PRIVATE KEY\" .",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 me@host",
    "sort by key: name, then by key: date",
    "cache-key: linux-cargo-9f8e7d6c5b4a3928",
    "2026-11-25T04:24:32.123Z worker-12 finished in 3.5 s",
    "nginx:1.25@sha256:abcdef",
    "see main.rs:10:5 and lib.rs:3:1",
    "runs/CodeLlama-13b-Instruct-hf_F_gpt-4-0613_decision_making_1.jsonl",
    "password: •••, Authorization: Bearer •••",
    "",
];

#[test]
fn no_secret_is_shown() {
    let wrong: Vec<_> = SECRETS
        .iter()
        .filter(|(text, expected)| masked(text) != *expected)
        .map(|(text, expected)| format!("{text}\n  {}\n  {expected}", masked(text)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), SECRETS.len(), wrong.join("\n"));
}

#[test]
fn other_text_stays_as_it_is() {
    let wrong: Vec<_> = INNOCENT
        .iter()
        .filter(|text| masked(text) != **text)
        .map(|text| format!("{text}\n  {}", masked(text)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), INNOCENT.len(), wrong.join("\n"));
}

#[test]
fn masked_text_stays_as_it_is() {
    for (_, expected) in SECRETS {
        assert_eq!(masked(expected), *expected);
    }
}

#[test]
fn every_rule_finds_the_secret_of_its_example() {
    let commands = CALLS.iter().chain(OPTIONS).flat_map(|(_, rules)| *rules);
    for (name, _, example) in SHAPES.iter().chain(NAMED).chain(commands) {
        let text = example.replace(['‹', '›'], "");
        let pieces: Vec<_> = example.split(['‹', '›']).collect();
        let expected = match pieces[..] {
            [before, _, after] => format!("{before}{MASK}{after}"),
            _ => text.clone(),
        };
        assert_eq!(masked(&text), expected, "{name}");
    }
}

#[test]
fn every_key_of_a_service_is_found() {
    for (service, prefixes, min, class) in KEYS {
        let filler = if class(b'z') {
            "z"
        } else if class(b'Q') {
            "Q"
        } else {
            "7"
        };
        for prefix in *prefixes {
            let key = format!(
                "{prefix}{}",
                filler.repeat((*min).max(13_usize.saturating_sub(prefix.len())))
            );
            assert_eq!(masked(&format!("see {key} here")), format!("see {MASK} here"), "{service}");
        }
    }
}

#[test]
fn no_reference_to_a_secret_is_masked() {
    for (open, close, is, example) in REFERENCES {
        let name = example.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        assert!(name.is_some_and(is), "{example}");
        let text = format!("password: \"{example}\"");
        assert_eq!(masked(&text), text);
    }
}

/// Places for a secret that may be any text in quotation marks. They are JSON strings at `@`.
const QUOTED: &[&str] = &[
    r#"{"password":@}"#,
    r#"{"a":1, "api_key" : @, "b":2}"#,
    r#"{"x":{"clientSecret":@}}"#,
    r#"{"headers":{"Authorization":@,"Accept":"*/*"}}"#,
    r#"{"Cookie":@}"#,
    r#"{"tokens":[@]}"#,
    r#"{"name":"DB_PASSWORD","value":@}"#,
    r#"["tool","--password",@]"#,
    "export PASSWORD=@ && run",
    "tool --token @ --verbose",
    "client(password=@, x=1)",
    r#"config["password"] = @"#,
    "password: @",
];

/// Places for a secret that is a word.
const WORDS: &[&str] = &texts![
    "PASSWORD=@" "export DB_PASS=@ && run" "tool --password @" "tool --token=@ x"
    "mysql -uroot -p@ db" "curl -u me:@ https://h" "redis://:@@h" "https://me:@@h/x"
    "https://h/?a=1&token=@&b=2" "password: @" "wrong password: @" "Authorization: ApiKey @"
    "Cookie: sid=@; a=b" "machine h login me password @" "<password>@</password>"
    "Server=h;Password=@;Port=1" "db.password = @"
];

/// A secret of two halves, neither of which may be seen.
fn halves(between: &'static str) -> impl Strategy<Value = (String, String, String)> {
    let half = || "[A-Z][0-9][A-Za-z0-9]{6,12}";
    (half(), between, half())
}

/// Returns `text` as a string of JSON, in as many strings of JSON as `depth` says.
fn quoted(text: &str, depth: usize) -> String {
    (0..depth).fold(text.to_owned(), |text, _| serde_json::to_string(&text).expect("a string"))
}

/// Pieces of text that begin a secret, or what only seems to be one.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "password", "token", "key", "auth", "pass", "=", ":", ": ", " ", "\"", "\\\"", "\\\\\\\"", "'", "`", "“", ",", ";", "&",
    "{", "}", "[", "]", "(", ")", "<", ">", "</", "\n", "\\n", "\n  ", "|", "|\n  ", "--", "-p ", "-u ", "curl ", "mysql ", "login ",
    "://", "@", "/", "a:b", "eyJ", "sk-", "ghp_", "bearer ", "basic ", "-----BEGIN PRIVATE KEY-----", "-----END ", "%22",
    "%3D", "&quot;", "\\u0022", "\\u003d", "\\", "x", "7", "A9", "name", "value", "echo ", "<<<", "is ", "for ", "$", "${",
    "Authorization", "Cookie", "!tag ", "é", "\u{200B}", "\"name\":\"password\"", "a(", "Option<String>",
    "password (", "<password> ", "api-token ", "password != \"", "self.token = token", "Bearer \" + \"", "auth: {", "send \"", "mkpasswd ", "curl -su ", "echo a ", "sk-", "is \"",
];

proptest! {
    #[test]
    fn a_quoted_secret_is_never_shown(
        place in select(QUOTED),
        (one, between, other) in halves(".{0,6}"),
        depth in 0..3_usize,
    ) {
        let secret = quoted(&format!("{one}{between}{other}"), 1);
        let text = quoted(&place.replace('@', &secret), depth);
        let shown = masked(&text);
        prop_assert!(!shown.contains(&one) && !shown.contains(&other), "{}\n{}", text, shown);
    }

    #[test]
    fn a_word_that_is_a_secret_is_never_shown(
        place in select(WORDS),
        (one, between, other) in halves("[.,;:!?*+^~_/-]{0,2}"),
        depth in 0..3_usize,
    ) {
        // A user and a password end at a bracket or a mark of the place.
        let secret = format!("{one}{between}{other}");
        let text = quoted(&place.replacen('@', &secret, 1), depth);
        let shown = masked(&text);
        prop_assert!(!shown.contains(&one) && !shown.contains(&other), "{}\n{}", text, shown);
    }

    #[test]
    fn any_text_is_scanned(text in "(?s).{0,200}", pieces in prop::collection::vec(select(PIECES), 0..30)) {
        for text in [text, pieces.concat()] {
            let shown = masked(&text);
            // The rest stays, in its order.
            let mut place = 0;
            for part in shown.split(MASK) {
                let found = text[place..].find(part);
                prop_assert!(found.is_some(), "{}\n{}", text, shown);
                place += found.unwrap_or(0) + part.len();
            }
        }
    }

    #[test]
    fn twice_the_text_takes_twice_the_steps(pieces in prop::collection::vec(select(PIECES), 1..6)) {
        let piece = pieces.concat();
        let times = 6000 / piece.len();
        let taken = |times: usize| {
            let text = piece.repeat(times);
            steps(|| drop(masked(&text).into_owned()))
        };
        let (once, twice) = (taken(times), taken(2 * times));
        prop_assert!(twice <= 3 * once + 10_000, "{}: {} and {}", piece, once, twice);
    }
}
