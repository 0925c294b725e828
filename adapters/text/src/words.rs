//! The words by which answers are read, one module for each idea.
//!
//! To add a word, put it into the table of its idea: in lower case, with a space where a word has to begin or to end.
//! The filters that most texts fail are made of the tables, so no table and its filter can disagree.

use crate::grams::Grams;
use crate::list::{List, list};
use crate::phrases::{Phrases, phrases, texts};

pub(crate) mod complaint {
    use super::{Grams, List, Phrases, list, phrases, texts};

    /// Labels at the start of an error line, from git, compilers and many other tools.
    pub(crate) const LABELS: &[&str] = &texts![
        "fatal: " "fatal error: " "Fatal error: " "FATAL: " "error: " "error[" "Error: " "ERROR: "
        "(error) " "abort: " "panic: " "API Error: " "MCP error " "Tool error: " "PHP Fatal error: "
        "Uncaught " "E: " "npm ERR! " "npm error " "Exception in thread \"" "Error executing "
    ];

    /// Sentences of the tools of agents, which may quote a file behind them.
    pub(crate) const AGENTS: &[&str] = &texts![
        "Command aborted" "Command timed out" "EXECUTION TIMED OUT" "File does not exist."
        "No replacement was performed" "String to replace not found"
        "Your proposed edit has introduced " "apply_patch verification failed" "old_string not found"
    ];

    /// Words of a last line that says that all went well.
    pub(crate) static GOOD_ENDS: Phrases = phrases!["succe" "done"];

    /// Shells, whatever they say before a colon.
    pub(crate) const SHELLS: [&str; 7] =
        ["bash", "sh", "zsh", "dash", "/bin/sh", "/bin/bash", "-bash"];

    /// Messages of the system or the shell about a name or a file. A broken pipe is not included,
    /// because `head` ends its input that way.
    pub(crate) const REASONS: &[&str] = &texts![
        "No such file or directory" "Permission denied" "Is a directory" "Not a directory"
        "Directory not empty" "File exists" "Operation not permitted" "Read-only file system"
        "No space left on device" "Connection refused" "command not found" "Connection reset by peer"
        "Connection timed out" "Device or resource busy" "Input/output error"
        "Name or service not known" "Network is unreachable" "No route to host"
        "Temporary failure in name resolution" "Text file busy" "Too many open files"
    ];

    /// Openings of messages by tools that cannot do or do not understand something.
    pub(crate) const MESSAGES: &[&str] = &texts![
        "Error is not recoverable" "Exiting with failure status" "cannot access " "cannot create "
        "cannot open " "cannot remove " "cannot stat " "can't open " "missing operand"
        "missing argument to " "option requires an argument" "invalid option -- " "unrecognized option "
        "No module named " "command not found: " "error: " "fatal error: " "illegal option -- "
        "extra operand " "unknown predicate " "cannot overwrite "
    ];

    /// Openings of a complaint.
    pub(crate) static OPENINGS: Phrases = phrases![
        "access denied" "an error occurred" "an exception occurred" "an unexpected error"
        "argument error" "authentication failed" "authentication required" "bad gateway" "bad request"
        "cannot " "can't " "command aborted" "command failed" "command not found" "connection aborted"
        "connection error" "connection refused" "connection reset" "connection timed out" "could not "
        "couldn't " "deadline exceeded" "does not exist" "execution error" "execution failed"
        "execution timed out" "failed to " "file not found" "gateway timeout" "input validation error"
        "insufficient " "internal error" "internal server error" "malformed " "missing argument"
        "missing field" "missing parameter" "missing required" "network error" "no changes to make:"
        "no module named" "no replacement was" "no such " "not a git repository" "not allowed"
        "not authenticated" "not authorized" "not found" "not logged in" "operation failed"
        "out of memory" "parse error" "parsing error" "permission denied" "quota exceeded"
        "rate limit exceeded" "request failed" "resource not found" "runtime error" "schema validation"
        "segmentation fault" "service unavailable" "something went wrong" "syntax error"
        "too few arguments" "too many arguments" "too many requests" "tool call failed"
        "tool execution failed" "type error" "unable to " "uncaught " "unexpected end of"
        "unexpected token" "unhandled " "validation error" "validation failed"
        "you can't see any" "you cannot see any" "you don't have permission" "you don't see any"
        "i don't see any" "i don't understand" "i don't know the word"
    ];

    /// Openings that may as well be the heading of a list: `Invalid rows`.
    pub(crate) static ADJECTIVES: Phrases = phrases![
        "forbidden" "illegal " "invalid " "unauthorized" "undefined " "unrecognized " "unsupported "
        "unexpected "
    ];

    /// Things that a tool does not know: `Unknown command: foo`.
    pub(crate) static UNKNOWN: List = list![
        "action" "agent" "argument" "attribute" "column" "command" "database" "error" "field" "file"
        "flag" "format" "function" "host" "id" "key" "linters" "method" "model" "name" "operation"
        "option" "parameter" "property" "resource" "skill" "subcommand" "table" "tool" "type" "user"
    ];

    /// Ends of a complaint.
    pub(crate) static ENDINGS: Phrases = phrases![
        " not found" " does not exist" " doesn't exist" " do not exist" " is not defined"
        " is not installed" " is not available" " is not supported" " is not allowed" " not permitted"
        " was denied" " is invalid" " argument is required" " field is required"
        " parameter is required"
    ];

    /// Phrases that stand inside of a complaint.
    pub(crate) static INSIDE: Phrases = phrases![
        " not found: " " not found in " " not found for " " not found at " " not found on "
        " does not exist: " " does not exist in " " doesn't exist in " " is not recognized as "
        " did not appear verbatim" " is not a valid " " is not valid" " is a required property"
        " is not a git repository" " validation error for " " validation errors for "
    ];

    /// Phrases of an edit that changes nothing.
    pub(crate) static SAME: Phrases =
        phrases!["produced identical content" "are exactly the same" "are identical. no changes"];

    /// Names of statuses from 400 on.
    pub(crate) static HTTP_REASONS: Phrases = phrases![
        " bad request" " unauthorized" " forbidden" " not found" " method not allowed" " conflict"
        " too many requests" " internal server error" " bad gateway" " service unavailable"
        " gateway time" " client error"
    ];

    /// Names of an HTTP status inside of a sentence.
    pub(crate) static HTTP_LABELS: Phrases =
        phrases![" status code " "status code: " " (http " " http status "];

    /// Letters of which each phrase has some that may stand anywhere in a sentence.
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[
            b"foun", b"does", b"reco", b"appe", b"vali", b"requ", b"repo", b"iden", b"exac",
            b"tatu", b"ttp ",
        ],
        &[INSIDE.all(), SAME.all(), HTTP_LABELS.all()],
    );

    /// Signs of code and markup.
    pub(crate) static CODE: Phrases = phrases!["=>" " = " " == " "();" "</" "* " "// " "  # "];

    /// Questions of a program.
    pub(crate) static QUESTIONS: Phrases = phrases!["did you mean" "do you mean"];

    /// Words that say only that something failed.
    pub(crate) static GENERIC: List = list![
        "received" "a" "aborting" "an" "and" "build" "bash" "call" "code" "command" "completed"
        "due" "encountered" "err" "error" "errors" "exception" "execution" "exit" "exited" "failed"
        "failure" "fatal" "finished" "has" "is" "it" "npm" "non" "occurred" "previous" "process"
        "program" "result" "returned" "run" "script" "shell" "something" "status" "task"
        "terminated" "the" "there" "to" "tool" "try" "unexpected" "unknown" "was" "went" "with"
        "wrong"
    ];

    /// Phrases of lines that only sum up what other lines say.
    pub(crate) static SUMMARIES: Phrases = phrases![
        "error is not recoverable" "error: could not compile `" "error: aborting due to "
        "could not be compiled" "returned non-zero exit status" "for more information about this error"
        "exited with code " "failed with exit code " "failed with exit status "
        "exiting with failure status"
    ];

    /// Letters of which each of these phrases has some.
    pub(crate) static SUMS: Grams = Grams::of(
        &[b"reco", b"comp", b"abor", b"non-", b"more", b"exit", b"d wi"],
        &[SUMMARIES.all()],
    );

    /// Words without content, because any failure may use them.
    pub(crate) static CONTENTLESS: List = list![
        "an" "and" "at" "been" "call" "code" "command" "during" "error" "errors" "exception" "executing"
        "execution" "exit" "exited" "fail" "failed" "failure" "fatal" "for" "from" "has" "in" "line"
        "occurred" "of" "process" "request" "result" "return" "returned" "run" "running" "status" "the"
        "to" "tool" "with"
    ];

    /// Phrases about a thing that does not exist.
    pub(crate) static ABSENT: Phrases = phrases![
        "not found" "no such" "not exist" "n't exist" "no results" "cannot find" "could not find"
        "couldn't find" "unable to find" "unknown id"
    ];

    /// Phrases about a thing that exists already.
    pub(crate) static EXISTING: Phrases =
        phrases!["already exist" "already been" "already has" "already in use"];

    /// Phrases behind which a tool repeats what it was given: the same refusal, whatever it is.
    pub(crate) static REPEATING: Phrases = phrases![
        "unknown command" "unknown action" "unknown option" "unknown argument" "unknown flag"
        "unknown verb" "unknown subcommand" "unrecognized command" "unrecognized option"
        "unrecognized argument" "unrecognised command" "invalid command" "invalid choice"
        "invalid action" "invalid option" "no such command" "no such option" "not see any"
        "n't see any" "n't know the word" "n't understand" "not understand"
    ];

    /// Phrases before which a tool repeats what it was given.
    pub(crate) static REPEATED: Phrases = phrases![
        " is not a valid " " is not recognized" " is not a recognized " " is not a known "
        " is not recognised"
    ];

    /// Letters of which each of these phrases has some.
    pub(crate) static REPEATS: Grams = Grams::of(
        &[b"unkn", b"reco", b"inva", b"such", b"see ", b"t kn", b"ders", b"vali", b"t a "],
        &[REPEATING.all(), REPEATED.all()],
    );

    /// Phrases about a missing program or package. If another one is missing next, that is another error,
    /// because the agent has installed the first one or has tried something else.
    pub(crate) const MISSING: &[&str] = &texts![
        "command not found" ": not found" "No module named " "Cannot find module "
        "Unable to locate package "
    ];
}

pub(crate) mod refusal {
    use super::{Grams, Phrases, phrases};

    /// Openings of a refusal by a policy, a hook or the tool itself.
    pub(crate) static OPENINGS: Phrases = phrases![
        "blocked by " "command not allowed" "command rejected" "denied by "
        "file has been modified since read" "file has not been read yet" "file must be read first"
        "operation rejected" "permission denied by " "permission to use " "rejected by "
        "request denied" "request rejected" "tool call rejected"
    ];

    /// Phrases of a refusal, anywhere in a line that speaks of one of `SUBJECTS`.
    pub(crate) static PHRASES: Phrases = phrases![
        "tool use was rejected" "was rejected by" "has been denied" "was denied by" "denied by policy"
        "denied by the" "blocked by hook" "blocked by policy" "blocked by the" "is blocked by"
        "requires approval" "rejected by user" "rejected by the" "has been unexpectedly modified"
    ];

    /// Phrases of a refusal by a host that asks for permission, whatever the line begins with.
    pub(crate) static UNPERMITTED: Phrases = phrases![
        "haven't granted it yet" "needs approval. the path is " "was blocked. for security, "
    ];

    /// Letters of which each phrase has some.
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[b"ecte", b"deni", b"bloc", b"requ", b"t gr", b"s ap"],
        &[PHRASES.all(), UNPERMITTED.all()],
    );

    /// Openings of a refusal by the user, who may say behind it what to do instead.
    pub(crate) static BY_USER: Phrases = phrases![
        "[request interrupted by user" "operation cancelled by user" "the user denied"
        "the user doesn't want to " "the user rejected" "user declined" "user denied"
        "user rejected"
    ];

    /// Things that are refused.
    pub(crate) static SUBJECTS: Phrases = phrases![
        "command" "tool" "operation" "action" "bash" "edit" "permission" "hook" "policy" "file"
    ];
}

pub(crate) mod timeout {
    use super::{Grams, List, Phrases, list, phrases};

    /// Phrases that only say that something took too long.
    pub(crate) static OVER: Phrases = phrases![
        "timed out" "etimedout" "deadline exceeded" "deadline_exceeded" "timeouterror"
        "timeoutexception"
    ];

    /// Things that run into a `timeout`, and the words beside them.
    pub(crate) static SUBJECTS: List = list![
        "504" "408" "a" "an" "after" "api" "build" "call" "client" "command" "connect" "connection"
        "error" "execution" "gateway" "http" "lock" "mcp" "navigation" "network" "operation"
        "process" "query" "read" "request" "server" "shell" "socket" "ssh" "the" "tool" "wait"
        "write"
    ];

    /// The word for a limit, and for what happens at it.
    pub(crate) static TIMEOUT: Phrases = phrases!["timeout" "time-out"];

    /// Words that follow a `timeout` that happened.
    pub(crate) static FOLLOWERS: List = list![
        "after" "at" "awaiting" "during" "elapsed" "error" "exceeded" "expired" "for" "has" "hit"
        "occurred" "of" "reached" "waiting" "while"
    ];

    /// Letters of which each word for a time-out has some.
    pub(crate) static TRIGGERS: Grams =
        Grams::of(&[b"time", b"dead"], &[OVER.all(), TIMEOUT.all()]);

    /// Phrases of a wait that was given up while the thing waited for goes on. That is no failure.
    pub(crate) static GOES_ON: Phrases = phrases![
        "still running" "still in progress" "still pending" "still building" "continues to run"
    ];
}

pub(crate) mod transient {
    use super::{Grams, Phrases, phrases};

    /// Phrases of a failure that may pass by itself: too many requests, a service that is down or starts, a lock.
    pub(crate) static PHRASES: Phrases = phrases![
        "http 429" "http 503" "error 429" "error 503" "status 429" "status 503" "rate limit" "rate-limit" "ratelimit" "too many requests"
        "overloaded" "service unavailable" "temporarily unavailable" "try again later"
        "try again in " "please try again" "retry after" "retry in " "bad gateway" "gateway time"
        "connection refused" "connection reset" "connection aborted" "connection closed"
        "econnrefused" "econnreset" "eai_again" "temporary failure" "resource busy"
        "could not get lock" "unable to acquire" "is locked" "lock file" ".lock'"
        "another process" "network is unreachable" "status code 429" "status code 503"
    ];

    /// Four letters of each of [`PHRASES`].
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[
            b" 429", b" 503", b"rate", b"many", b"over", b"avai", b"agai", b"etry", b"gate",
            b"conn", b"temp", b"busy", b"lock", b"acqu", b"anot", b"netw",
        ],
        &[PHRASES.all()],
    );
}

pub(crate) mod waiting {
    use super::{Grams, List, Phrases, list, phrases, texts};

    /// Names of members and elements that hold a state.
    pub(crate) static NAMES: List = list![
        "status" "state" "phase" "stage" "conclusion" "progress" "retrieval_status" "job_status"
        "jobstatus"
    ];

    /// Names of members that say whether a job has ended.
    pub(crate) static ENDS: List =
        list!["done" "ready" "finished" "complete" "completed" "isready" "isdone" "is_complete"];

    /// Words for a job that is running or waiting.
    pub(crate) static STATES: List = list![
        "building" "booting" "cloning" "compiling" "containercreating" "converging" "creating"
        "deploying" "downloading" "executing" "inprogress" "incomplete" "initializing" "installing"
        "loading" "pending" "podinitializing" "preparing" "processing" "provisioning" "pulling"
        "queued" "queueing" "queuing" "rebooting" "restarting" "running" "scheduled" "scheduling"
        "starting" "syncing" "terminating" "updating" "uploading" "wait" "waiting"
    ];

    /// Words that may accompany such a word without changing its meaning.
    pub(crate) static FILLERS: List = list![
        "a" "are" "background" "be" "been" "build" "check" "checks" "currently" "deployment"
        "elapsed" "execution" "for" "has" "in" "is" "it" "its" "job" "moment" "now" "of" "operation"
        "pid" "pipeline" "please" "process" "request" "run" "state" "status" "still" "task" "tasks"
        "the" "this" "to" "workflow"
    ];

    /// Words for the end of a job. The job is still running if the sentence negates them.
    pub(crate) static GOALS: List = list![
        "available" "complete" "completed" "done" "finished" "healthy" "ready" "started" "up" "over"
        "initialized"
    ];

    /// Words that negate the end of a job.
    pub(crate) static DENIALS: List = list![
        "not" "hasn't" "isn't" "haven't" "aren't" "until" "unready" "yet"
    ];

    /// Phrases in sentences about a running job.
    pub(crate) static PHRASES: Phrases = phrases![
        "still running" "still in progress" "still pending" "still building" "still processing"
        "still queued" "still waiting" "still starting" "still loading" "still creating"
        "still destroying" "still executing" "still deploying" "still being" "please wait"
        "is in progress" "running in background" "running in the background"
    ];

    /// Phrases in sentences about a job that has not ended.
    pub(crate) static TO_COME: Phrases = phrases![
        "not ready yet" "not yet ready" "not finished yet" "not yet finished" "not yet complete"
        "not yet available" "not complete yet" "not available yet" "has not finished" "hasn't finished"
    ];

    /// Spellings of one more state.
    pub(crate) static PROGRESS: Phrases = phrases!["in progress" "in_progress" "in-progress"];

    /// Openings of sentences of something that waits.
    pub(crate) static WAITS: Phrases = phrases!["waiting for " "waiting on " "waiting until "];

    /// Letters of which each sentence about a running job has some.
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[b"stil", b"wait", b"prog", b"not ", b"asn'", b"back"],
        &[PHRASES.all(), TO_COME.all(), WAITS.all()],
    );

    /// The signs between a count and its total: `3/5`, `3 of 5`.
    pub(crate) static OF: Phrases = phrases!["/" " of "];

    /// The estimated time of arrival.
    pub(crate) static ETA: Phrases = phrases!["eta"];

    /// Phrases in sentences about a job that has ended.
    pub(crate) static OVER: Phrases = phrases!["done" "succe" "completed" "finished in"];

    /// Words of sentences that are no news.
    pub(crate) static DOUBTS: Phrases = phrases![" if " " may "];

    /// Words for a failure. A result with one of them is not pending.
    pub(crate) static FAILURES: List = list![
        "error" "errors" "exception" "failed" "failing" "failure" "refused" "denied" "crashed"
        "cancelled"
    ];

    /// States in a column of a table. `running` is not among them, because there it is a healthy service.
    pub(crate) static COLUMNS: List = List::new(&texts![
        "pending" "queued" "in_progress" "in progress" "containercreating" "podinitializing"
        "provisioning" "waiting"
    ]);

    /// Letters of which each name of a state and each state in a column has some.
    pub(crate) static TRIGGERS_OF_STATES: Grams = Grams::of(
        &[
            b"stat", b"phas", b"stag", b"conc", b"rogr", b"pend", b"queu", b"prov", b"aiti",
            b"ercr", b"podi",
        ],
        &[COLUMNS.all(), NAMES.all()],
    );
}

pub(crate) mod nothing {
    use super::{List, Phrases, list, phrases, texts};

    /// Silent answers to a search that say more than that it printed nothing.
    pub(crate) const CONFIRMATIONS: &[&str] =
        &texts!["ok" "ok." "done" "done." "success" "success." "true" "[image]" "<image>"];

    /// Names of members that hold the hits.
    pub(crate) static LISTS: List = list![
        "data" "documents" "edges" "entries" "files" "hits" "items" "issues" "list" "matches"
        "nodes" "records" "result" "results" "rows" "users" "values"
    ];

    /// Names of members that count the hits.
    pub(crate) static COUNTS: List = list![
        "count" "hits" "matches" "numresults" "num_results" "resultcount" "total" "totalcount"
        "total_count" "total_results"
    ];

    /// Nouns for things that are searched.
    pub(crate) static THINGS: List = list![
        "answer" "answers" "article" "articles" "branch" "branches" "candidates" "comments"
        "content" "data" "definition" "definitions" "directories" "document" "documents" "element"
        "elements" "entries" "entry" "event" "events" "file" "files" "hit" "hits" "information"
        "item" "items" "line" "lines" "match" "matches" "memories" "messages" "occurrences" "pages"
        "pods" "record" "records" "references" "requests" "resources" "result" "results" "rows"
        "symbols" "tasks" "users"
    ];

    /// Nouns whose absence is good news, because a check without such findings has succeeded.
    pub(crate) static FLAWS: List = list![
        "changed" "created" "deleted" "modified" "updated" "written" "error" "errors" "issue"
        "issues" "problem" "problems" "warning" "warnings" "vulnerabilities" "conflicts" "changes"
        "differences" "failures" "violations" "such" "longer"
    ];

    /// Openings of sentences of a search that found nothing.
    pub(crate) static SENTENCES: Phrases = phrases![
        "(0 rows)" "(no matches)" "(no results)" "did not find any " "directory is empty" "empty set"
        "found no " "no hits" "nothing found" "nothing happened" "nothing happens" "nothing matched"
        "nothing matches" "query returned no " "returned no " "the directory is empty"
        "the folder is empty" "the query returned no " "total: 0"
    ];

    /// Phrases inside of such sentences.
    pub(crate) static PHRASES: Phrases = phrases![
        "did not match any" "didn't match any" "did not return any" "no matches found"
        "no results found" "returned 0 results" "returned no results" "returned no matches"
    ];
}

pub(crate) mod silence {
    use super::{List, list, texts};

    /// Results that only confirm a call, and placeholders for content that is not text.
    pub(crate) const SILENT: &[&str] = &texts![
        "" "ok" "ok." "done" "done." "success" "success." "null" "none" "undefined" "true" "[]" "{}"
        "no output" "(no output)" "[no output]" "(empty)" "[image]" "<image>" "\"\""
    ];

    /// Labels of an exit code that stands alone, without the brackets around it.
    pub(crate) const EXIT_CODES: &[&str] = &texts![
        "exit code" "exit code:" "exit status" "exit status:" "return code:" "command exited with code"
        "command exited with exit code"
    ];

    /// Headings of an empty output.
    pub(crate) const HEADINGS: [&str; 4] = ["output:", "stdout:", "stderr:", "result:"];

    /// Words of a sentence of the host which only says that a command ran.
    pub(crate) static PHRASE: List = list![
        "a" "and" "any" "bash" "command" "completed" "did" "error" "errors" "executed" "execution"
        "exit" "finished" "it" "no" "not" "or" "output" "produce" "produced" "program" "ran"
        "script" "shell" "success" "successful" "successfully" "the" "tool" "with" "without" "your"
    ];

    /// Participles that say what happened to a result.
    pub(crate) static GONE: List = list![
        "omitted" "elided" "cleared" "pruned" "truncated" "compacted" "removed" "trimmed" "dropped"
    ];

    /// Nouns for a result.
    pub(crate) static HISTORY: List = list![
        "context" "history" "output" "outputs" "result" "results" "content" "contents" "lines"
        "tokens"
    ];
}

pub(crate) mod status {
    use super::{List, list, texts};

    /// Names of an exit status.
    pub(crate) const NAMES: &[&str] = &texts![
        "exit code" "exitcode" "exit status" "return code" "exited with code" "exited with status"
    ];

    /// Verbs for the end of a process, which the name of its status follows.
    pub(crate) const DEEDS: [&str; 7] =
        ["exited", "returned", "finished", "completed", "failed", "terminated", "ended"];

    /// Members that hold an error unless their value is null, false, zero or empty.
    pub(crate) static ERRORS: List = list![
        "error" "errors" "err" "exception" "errormessage" "error_message"
    ];

    /// Members that say whether the call worked.
    pub(crate) static SUCCESSES: List = list!["success" "succeeded" "ok"];

    /// Members that say whether the call failed.
    pub(crate) static FAILURES: List = list!["iserror" "is_error" "failed"];

    /// Members that hold an HTTP status.
    pub(crate) static STATUSES: List = list!["status" "statuscode" "status_code" "code"];

    /// Members that hold the exit status of a command.
    pub(crate) static EXITS: List = list![
        "exit_code" "exitcode" "returncode" "return_code" "exit_status"
    ];

    /// Members that say what went wrong, the most specific first.
    pub(crate) const MESSAGES: [&str; 6] =
        ["message", "detail", "error_description", "stderr", "title", "output"];
}

pub(crate) mod cause {
    use super::{List, Phrases, list, phrases};

    /// The text to replace stands in the file more than once. With `edits` below, what the editors of agents say.
    pub(crate) static TEXT_REPEATED: Phrases = phrases![
        "matches of the string to replace" "multiple occurrences of old_str" "found multiple matches for"
        "expected 1 occurrence but found" "expected 1 occurrences but found" "is not unique in the file"
        "appears multiple times" "matches more than one place" "must be unique. found" "more than one match for old"
    ];

    /// The text to replace is not in the file.
    pub(crate) static TEXT_MISSING: Phrases = phrases![
        "string to replace not found" "did not appear verbatim" "old_string not found" "oldstring not found"
        "could not find the string to replace" "0 occurrences found for old_string" "failed to find expected lines"
        "failed to find context" "failed to exactly match" "no match found for the search" "search block not found"
        "could not find old_string" "no replacement was performed" "old_text not found" "old text not found" "could not find the exact text"
        "no sufficiently similar match" "patch failed: "
    ];

    /// The file has changed since the agent read it.
    pub(crate) static FILE_CHANGED: Phrases = phrases![
        "has been modified since" "has been unexpectedly modified" "file has changed since" "was modified since"
        "has changed on disk" "modified since it was last read"
    ];

    /// The agent has not read the file that it writes.
    pub(crate) static FILE_UNREAD: Phrases = phrases![
        "file has not been read yet" "file must be read first" "must read file" "must read the file"
        "read it first before writing" "you must use your read tool"
    ];

    /// The two texts of an edit are one.
    pub(crate) static EDIT_EMPTY: Phrases = phrases![
        "are exactly the same" "no changes to make" "produced identical content" "are identical. no changes"
        "must be different from old"
    ];

    /// The command runs outside of its project.
    pub(crate) static FOLDER_WRONG: Phrases = phrases![
        "not a git repository" "could not find `cargo.toml`" "could not find cargo.toml"
        "no makefile found" "go.mod file not found" "go: cannot find main module" "could not read package.json"
        "no such file or directory, open 'package.json'" "no pyproject.toml" "could not find a package.json"
    ];

    /// A database has no such table or column.
    pub(crate) static NAME_FOLLOWS: Phrases = phrases![
        "unknown column " "no such table: " "no such column: " "unknown table " "invalid column name "
        "invalid object name "
    ];
    pub(crate) static NAME_OPENS: Phrases = phrases!["table " "relation " "column "];

    /// A shell, a database or a language cannot read the text.
    pub(crate) static SYNTAX_WRONG: Phrases = phrases![
        "unexpected eof while looking for" "syntax error near" "syntax error:" "syntaxerror:"
        "error in your sql syntax" "unterminated quoted string" "unterminated string" "unmatched "
        "unexpected end of file" "syntax error at or near"
    ];

    /// The call took longer than it may.
    pub(crate) static TIMED_OUT: Phrases = phrases![
        "command timed out" "execution timed out" "timed out after" "timed out and has been killed"
        "deadline exceeded"
    ];

    /// A package is not installed. Its name follows.
    pub(crate) static PACKAGE_MISSING: Phrases = phrases![
        "no module named " "cannot find module " "cannot find package " "can't find crate for "
        "unresolved import " "no required module provides package " "unable to resolve dependency "
        "no matching distribution found for " "could not find a version that satisfies the requirement "
        "unable to locate package " "cannot load such file -- " "could not find gem "
        "failed to resolve import "
    ];

    /// A program is not installed. Its name follows, or stands before.
    pub(crate) static PROGRAM_FOLLOWS: Phrases = phrases![
        "command not found: " "executable file not found: " "failed to execute: "
    ];
    pub(crate) static PROGRAM_PRECEDES: Phrases = phrases![
        ": command not found" " is not recognized as an internal or external command"
        " is not recognized as the name of a cmdlet" ": executable file not found"
    ];

    /// Another program holds a port.
    pub(crate) static PORT_HELD: Phrases = phrases![
        "address already in use" "eaddrinuse" "address in use" "only one usage of each socket address"
        "port is already allocated" "port is already in use" "port already in use"
    ];

    /// Permission is denied. The path follows, or stands before.
    pub(crate) static PERMISSION_FOLLOWS: Phrases = phrases![
        "eacces: permission denied" "eperm: operation not permitted" "[errno 13] permission denied"
        "could not open lock file" "permission denied: '"
    ];
    pub(crate) static PERMISSION_PRECEDES: Phrases = phrases![
        ": permission denied" ": operation not permitted" ": read-only file system" ": access denied"
        " permission denied"
    ];

    /// The credentials are refused, or there are none.
    pub(crate) static LOGIN_REFUSED: Phrases = phrases![
        "bad credentials" "401 unauthorized" "http 401" "invalid api key" "incorrect api key" "authentication failed"
        "not logged in" "could not read username" "authentication required" "invalid credentials" "token has expired"
        "permission denied (publickey"
    ];

    /// The answer asks for fewer requests.
    pub(crate) static RATE_LIMIT: Phrases = phrases![
        "rate limit" "rate-limit" "ratelimit" "too many requests" "http 429" "status 429" "error 429"
        "quota exceeded" "overloaded"
    ];

    /// Words before the time to wait.
    pub(crate) static WAITS: Phrases = phrases![
        "retry after " "retry-after: " "try again in " "retry in " "wait for " "wait " "try again after "
        "please wait "
    ];

    /// Units of the time to wait.
    pub(crate) static UNITS: List = list![
        "ms" "s" "sec" "secs" "second" "seconds" "m" "min" "minute" "minutes" "h" "hours"
    ];

    /// The other side cannot be reached. Its name follows, or stands before, or is not told.
    pub(crate) static HOST_FOLLOWS: Phrases = phrases![
        "could not resolve host: " "could not resolve hostname " "getaddrinfo enotfound "
        "getaddrinfo eai_again " "failed to connect to " "connect econnrefused " "failed to lookup address of "
        "no such host " "unable to resolve host address " "cannot connect to "
    ];
    pub(crate) static HOST_UNTOLD: Phrases = phrases![
        "name or service not known" "temporary failure in name resolution" "network is unreachable"
        "no route to host" "connection refused" "connection timed out" "connection reset" "getaddrinfo failed"
        "err_internet_disconnected" "err_name_not_resolved" "err_connection_refused"
    ];

    /// The tool refuses an argument. Its name follows, or stands before.
    pub(crate) static ARGUMENT_FOLLOWS: Phrases = phrases![
        "got an unexpected keyword argument " "required positional argument: " "unexpected argument "
        "unrecognized arguments: " "unrecognized argument: " "unrecognized option " "unknown option "
        "invalid option -- " "illegal option -- " "no such option: " "no such option " "unknown flag: "
        "unknown shorthand flag: " "flag provided but not defined: " "missing required parameter: "
        "missing required parameter " "missing required argument: " "missing required argument "
        "missing required property " "params must have required property " "must have required property "
        "the required parameter " "an unexpected parameter " "unknown argument: " "unknown argument "
        "missing parameter: " "missing field " "unknown field " "additional properties are not allowed ("
        "invalid value for parameter " "bad option: " "option requires an argument -- " "missing argument to "
        "unknown predicate " "unrecognized subcommand " "unknown primary or operator"
    ];
    pub(crate) static ARGUMENT_PRECEDES: Phrases = phrases![
        " is a required property" " is a required parameter" " is a required argument" " is required"
        " was unexpected)" " is not a valid parameter" " is not a known parameter"
    ];

    pub(crate) static OPTION_PRECEDES: Phrases =
        phrases![": invalid option" ": illegal option" ": unknown option"];

    /// A path does not exist. It follows, or stands before.
    pub(crate) static PATH_FOLLOWS: Phrases = phrases![
        "enoent: no such file or directory" "[errno 2] no such file or directory: " "file not found: "
        "file does not exist: " "path does not exist: " "path not found: " "directory does not exist: "
        "file or directory not found: " "no such file: " "no such directory: " "can't open file "
        "failed to read file " "could not find file " "cannot find the path " "cannot find path "
        "directory not found: " "pathspec "
    ];
    pub(crate) static PATH_UNTOLD: Phrases = phrases!["file does not exist."];
    pub(crate) static PATH_PRECEDES: Phrases = phrases![
        ": no such file or directory" " no such file or directory" " does not exist" " doesn't exist"
        " was not found" ": file not found" " not found"
    ];
}

pub(crate) mod report {
    use super::Grams;

    /// Keywords that occur in every result with a report in its middle. The few reports without a
    /// keyword show in their first line.
    pub(crate) static ANY: Grams = Grams::new(&[
        b"pass", b"fail", b"erro", b"skip", b"test", b"dese", b"warn", b"reru", b"exit", b"pani",
        b"bail", b"trac", b"code", b"stat", b"*ok ", b"dint", b"t ok",
    ]);

    /// Keywords that occur in every line that a reader knows. A few lines are known by their first
    /// letters instead.
    pub(crate) static LINES: Grams = Grams::new(&[
        b"pass", b"fail", b"erro", b"skip", b"test", b"dese", b"warn", b"reru", b"exit", b"pani",
        b"bail", b"trac",
    ]);
}
