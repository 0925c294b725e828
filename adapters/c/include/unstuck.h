/* The engine of unstuck for C11 and C++17: loop detection for agents that call tools.
 *
 * Made from the sources of the library; write `cargo run -p unstuck-c --example header` to make it
 * again.
 *
 * All that holds for every function:
 *
 * - There is no allocation, no lock, no clock, no input and no output. A detector lives in storage of
 *   yours; there is nothing to free. It may be used by one thread at a time, and two detectors by two.
 * - NULL, short or misaligned storage, storage without a detector, numbers out of range and damaged
 *   checkpoints give a status and change nothing. What cannot be seen: wild pointers, lengths beyond
 *   the object, text without its NUL, storage overwritten behind its first bytes, and storage that
 *   another program, or this one before a reset, has left where it now looks for a detector: what
 *   outlasts a program is a checkpoint.
 * - Nothing that is written overlaps with anything that is read.
 * - Lengths and sizes are in bytes. Texts are UTF-8; those without a length end with a NUL.
 * - Equal digests stand for equal things. 0 is a digest like any other.
 */

#ifndef UNSTUCK_H
#define UNSTUCK_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes a policy of your own takes that says something of so many tools. */
#define UNSTUCK_POLICY_SIZE(tools) (UNSTUCK_POLICY_HEAD + (tools) * UNSTUCK_POLICY_TOOL)

/* How many bytes a policy takes that has so many rules of your own, with so many rungs in all. */
#define UNSTUCK_RULES_SIZE(rules, rungs) \
    (UNSTUCK_POLICY_HEAD + (rules) * UNSTUCK_POLICY_RULE + (rungs) * UNSTUCK_POLICY_RUNG)

/**
 * What every storage is aligned to, in bytes.
 */
#define UNSTUCK_ALIGN 8

/**
 * How many bytes a detector takes that holds the latest 8 calls.
 */
#define UNSTUCK_SIZE_8 1328

/**
 * How many bytes a detector takes that holds the latest 20 calls.
 */
#define UNSTUCK_SIZE_20 1648

/**
 * How many bytes a detector takes that holds the latest 64 calls.
 */
#define UNSTUCK_SIZE_64 2848

/**
 * How many calls may wait for their outcomes at once. Of more, the oldest is given up.
 */
#define UNSTUCK_OPEN_MAX 8

/**
 * Enough for every nudge about a tool whose name has 64 bytes at most, its NUL included.
 */
#define UNSTUCK_NUDGE_MAX 384

/**
 * How many bytes a policy of your own takes, without what its tools add: see UNSTUCK_POLICY_SIZE().
 */
#define UNSTUCK_POLICY_HEAD 224

/**
 * How many bytes each rule for a tool adds.
 */
#define UNSTUCK_POLICY_TOOL 8

/**
 * How many bytes groups take.
 */
#define UNSTUCK_GROUPS_SIZE 2256

/**
 * How many bytes are enough for every checkpoint of a detector of a window of 8.
 */
#define UNSTUCK_CHECKPOINT_8 1668

/**
 * How many bytes are enough for every checkpoint of a detector of a window of 20.
 */
#define UNSTUCK_CHECKPOINT_20 2244

/**
 * How many bytes are enough for every checkpoint of a detector of a window of 64.
 */
#define UNSTUCK_CHECKPOINT_64 4356

/**
 * How many bytes each rule of your own adds to a policy.
 */
#define UNSTUCK_POLICY_RULE 64

/**
 * How many bytes each rung adds.
 */
#define UNSTUCK_POLICY_RUNG 4

/**
 * What came of a call of this library. Where it is not UNSTUCK_OK, nothing has happened, and
 * nothing was written to where results go.
 */
enum unstuck_status_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It was done.
     */
    UNSTUCK_OK = 0,
    /**
     * A pointer is NULL that must not be.
     */
    UNSTUCK_NULL = 1,
    /**
     * The storage is too short.
     */
    UNSTUCK_STORAGE_SHORT = 2,
    /**
     * The storage is not aligned to UNSTUCK_ALIGN bytes.
     */
    UNSTUCK_STORAGE_MISALIGNED = 3,
    /**
     * The storage holds no detector: it was never initialised, was moved or overwritten.
     */
    UNSTUCK_NO_DETECTOR = 4,
    /**
     * What is given as a policy is none, or was moved.
     */
    UNSTUCK_NO_POLICY = 5,
    /**
     * The storage holds no groups: it was never initialised, was moved or overwritten.
     */
    UNSTUCK_NO_GROUPS = 6,
    /**
     * The policy looks back over more calls than the detector holds, or the detector is of another
     * window than the function.
     */
    UNSTUCK_WINDOW = 7,
    /**
     * A number is none of its enumeration, or out of its range.
     */
    UNSTUCK_VALUE = 8,
    /**
     * What is given as the name of a call is none that this library gave.
     */
    UNSTUCK_NO_CALL = 9,
    /**
     * The verdict has no finding, or the detector never made one.
     */
    UNSTUCK_NO_FINDING = 10,
    /**
     * The rules cannot work as they are.
     */
    UNSTUCK_RULES = 11,
    /**
     * A name is not UTF-8.
     */
    UNSTUCK_NOT_UTF8 = 12,
    /**
     * The bytes are not one JSON value.
     */
    UNSTUCK_NOT_JSON = 13,
    /**
     * The buffer is too short for what is to be written.
     */
    UNSTUCK_BUFFER_SHORT = 14,
    /**
     * The bytes are no checkpoint, or one that was damaged.
     */
    UNSTUCK_CHECKPOINT_DAMAGED = 15,
    /**
     * The checkpoint was written in another version of its format.
     */
    UNSTUCK_CHECKPOINT_VERSION = 16,
    /**
     * The checkpoint was written under other rules.
     */
    UNSTUCK_CHECKPOINT_POLICY = 17,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_status_t unstuck_status_t;
#else
typedef int32_t unstuck_status_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What to do, from nothing to everything: a greater number asks for more.
 */
enum unstuck_action_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing: go on.
     */
    UNSTUCK_PROCEED = 0,
    /**
     * Tell the agent, in passing.
     */
    UNSTUCK_NUDGE = 1,
    /**
     * Tell the agent plainly.
     */
    UNSTUCK_WARN = 2,
    /**
     * Do not run the call; tell the agent why, and tell the detector by unstuck_vetoed().
     */
    UNSTUCK_BLOCK = 3,
    /**
     * Throw away what was done since the start and begin again.
     */
    UNSTUCK_START_OVER = 4,
    /**
     * End the run.
     */
    UNSTUCK_STOP = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_action_t unstuck_action_t;
#else
typedef uint8_t unstuck_action_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How something recurs.
 */
enum unstuck_kind_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The same thing several times in a row.
     */
    UNSTUCK_STREAK = 0,
    /**
     * The same thing several times with others between.
     */
    UNSTUCK_RECURRENCE = 1,
    /**
     * A sequence, repeated.
     */
    UNSTUCK_CYCLE = 2,
    /**
     * Text-only turns in a row.
     */
    UNSTUCK_TEXT = 3,
    /**
     * A sequence repeated inside the text of one turn.
     */
    UNSTUCK_ECHO = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_kind_t unstuck_kind_t;
#else
typedef uint8_t unstuck_kind_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What two calls have in common that match.
 */
enum unstuck_args_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The same tool and the same arguments.
     */
    UNSTUCK_ARGS_SAME = 0,
    /**
     * The same tool and arguments that are held alike.
     */
    UNSTUCK_ARGS_SIMILAR = 1,
    /**
     * The same tool.
     */
    UNSTUCK_ARGS_SAME_TOOL = 2,
    /**
     * Nothing.
     */
    UNSTUCK_ARGS_ANY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_args_t unstuck_args_t;
#else
typedef uint8_t unstuck_args_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What their outcomes have in common.
 */
enum unstuck_results_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing.
     */
    UNSTUCK_RESULTS_IGNORED = 0,
    /**
     * The same result.
     */
    UNSTUCK_RESULTS_SAME = 1,
    /**
     * The same result but for its numbers.
     */
    UNSTUCK_RESULTS_NEAR = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_results_t unstuck_results_t;
#else
typedef uint8_t unstuck_results_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What kind of tool a call is for, where that matters to a rule or to the advice given.
 */
enum unstuck_tag_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing that a rule asks for.
     */
    UNSTUCK_TAG_OTHER = 0,
    /**
     * Runs tests.
     */
    UNSTUCK_TAG_TEST = 1,
    /**
     * Runs commands.
     */
    UNSTUCK_TAG_SHELL = 2,
    /**
     * Reads a file, a page or a sensor.
     */
    UNSTUCK_TAG_READ = 3,
    /**
     * Writes or edits a file, or moves something.
     */
    UNSTUCK_TAG_WRITE = 4,
    /**
     * Searches.
     */
    UNSTUCK_TAG_SEARCH = 5,
    /**
     * Asks for the state of something that is on its way.
     */
    UNSTUCK_TAG_POLL = 6,
    /**
     * Only thinks or plans.
     */
    UNSTUCK_TAG_THINK = 7,
    /**
     * Ends the run or hands it over.
     */
    UNSTUCK_TAG_FINISH = 8,
    /**
     * Throws the work away and starts over.
     */
    UNSTUCK_TAG_START_OVER = 9,
    /**
     * Acts, so that an equal confirmation proves nothing: presses a key, clicks, moves.
     */
    UNSTUCK_TAG_ACT = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_tag_t unstuck_tag_t;
#else
typedef uint8_t unstuck_tag_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a ladder counts.
 */
enum unstuck_basis_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Repetitions of the pattern.
     */
    UNSTUCK_BY_REPETITIONS = 0,
    /**
     * Findings of the same loop.
     */
    UNSTUCK_BY_LOOP_FINDINGS = 1,
    /**
     * Findings of any kind since the history was last cleared.
     */
    UNSTUCK_BY_ALL_FINDINGS = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_basis_t unstuck_basis_t;
#else
typedef uint8_t unstuck_basis_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which calls a rule sees; the others are skipped.
 */
enum unstuck_select_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Every call.
     */
    UNSTUCK_SELECT_EVERY = 0,
    /**
     * Calls with select_tag.
     */
    UNSTUCK_SELECT_TAG = 1,
    /**
     * Calls with any other tag.
     */
    UNSTUCK_SELECT_EXCEPT = 2,
    /**
     * Calls whose outcome never came.
     */
    UNSTUCK_SELECT_UNREPORTED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_select_t unstuck_select_t;
#else
typedef uint8_t unstuck_select_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The calls of one worker's run that are alike, in storage of the caller's.
 */
typedef struct unstuck_groups_t unstuck_groups_t;

/**
 * A set of rules, and how digests are made for them. Many detectors may follow one.
 */
typedef struct unstuck_policy_t unstuck_policy_t;

/**
 * A detector in storage of the caller's. All that is known of it is its address.
 */
typedef struct unstuck_t unstuck_t;

/**
 * A tool's name with its arguments, as digests. Zeros are a good beginning: they stand for a call of
 * tool 0 in a step of its own.
 *
 * Two calls are the same if tool and args are: how args is made decides what "the same" means, and
 * unstuck_json_fingerprint() is one good way.
 */
typedef struct {
    /**
     * What stands for the arguments; the tool need not be in it.
     */
    uint64_t args;
    /**
     * What stands for all calls of this tool that are held alike; read where has_similar is set.
     */
    uint64_t similar;
    /**
     * The step: calls that the agent issued together share one; read where has_step is set.
     */
    uint64_t step;
    /**
     * Which tool: a number of your own, or that of unstuck_tool().
     */
    uint32_t tool;
    /**
     * What kind of tool: one of unstuck_tag_t.
     */
    uint8_t tag;
    /**
     * Whether similar counts: 0 for no, anything else for yes.
     */
    uint8_t has_similar;
    /**
     * Whether step counts: 0 for no, anything else for yes.
     */
    uint8_t has_step;
    /**
     * Whether the call is idempotent: it only reads, or writes the same content to the same place, so
     * that an equal answer proves that calling again does not help. 0 for no, anything else for yes.
     */
    uint8_t idempotent;
} unstuck_call_t;

/**
 * The detector's name for one announced call, to be handed back with its outcome. Copy it as you
 * like; look at seq in unstuck_announced_t instead of its bytes.
 */
typedef struct {
    /**
     * Nobody's business but the detector's.
     */
    uint8_t bytes[16];
} unstuck_call_id_t;

/**
 * The evidence for a verdict.
 */
typedef struct {
    /**
     * The first call of the pattern, by the sequence number of calls; for UNSTUCK_TEXT and
     * UNSTUCK_ECHO the first turn, counted likewise among text-only turns.
     */
    uint64_t first;
    /**
     * The last call of the pattern: the one that was judged.
     */
    uint64_t last;
    /**
     * Which loop it is: the same in every run in which the same calls, answered the same, go round.
     */
    uint64_t loop_id;
    /**
     * The calls that prove it: bit n stands for the call numbered last - n. 0 where it is about text.
     */
    uint64_t evidence;
    /**
     * The tool of the last call.
     */
    uint32_t tool;
    /**
     * How often the calls matched: laps of a cycle; records of a streak or recurrence; turns.
     */
    uint16_t laps;
    /**
     * How many calls make a lap: 1 but for cycles, and for UNSTUCK_ECHO, where it is how many words.
     */
    uint8_t period;
    /**
     * How sure the engine is, in percent.
     */
    uint8_t confidence;
    /**
     * Which rule fired, by its place in the policy, counted from 0; see unstuck_rule_name().
     */
    uint8_t rule;
    /**
     * 1 if that is a rule about text-only turns, which are counted apart, else 0.
     */
    uint8_t about_text;
    /**
     * 1 if the last call failed, else 0.
     */
    uint8_t failed;
    /**
     * How things recur.
     */
    unstuck_kind_t kind;
    /**
     * What the calls have in common.
     */
    unstuck_args_t args;
    /**
     * What their outcomes have in common.
     */
    unstuck_results_t results;
    /**
     * What kind of tool the last call was for.
     */
    unstuck_tag_t tag;
    /**
     * The most that more of the same can lead to. UNSTUCK_WARN if the rule asks for proof before it
     * blocks, and there is none so far.
     */
    unstuck_action_t most;
} unstuck_finding_t;

/**
 * The engine's answer to one event: what to do, and why.
 */
typedef struct {
    /**
     * What to do.
     */
    unstuck_action_t action;
    /**
     * The rung of the ladder that is reached, counted from 1; 0 below the first.
     */
    uint8_t rung;
    /**
     * 1 if that rung was reached just now, else 0: who speaks only then speaks once a rung.
     */
    uint8_t fresh;
    /**
     * 1 if a rule fired, else 0; then finding is all zeros.
     */
    uint8_t has_finding;
    /**
     * Always 0.
     */
    uint32_t reserved;
    /**
     * The evidence.
     */
    unstuck_finding_t finding;
} unstuck_verdict_t;

/**
 * What an announcement is answered with.
 */
typedef struct {
    /**
     * The call's name, for its outcome.
     */
    unstuck_call_id_t call;
    /**
     * Its sequence number: 0 for the first that a detector recorded, then one more each; read where
     * recorded is 1.
     */
    uint64_t seq;
    /**
     * 1 if the call is recorded; 0 if its tool or its tag is exempt, and its outcome changes nothing.
     */
    uint8_t recorded;
    /**
     * Always 0.
     */
    uint8_t reserved[7];
    /**
     * The verdict on this call, before it runs: from UNSTUCK_BLOCK on, do not run it.
     */
    unstuck_verdict_t verdict;
    /**
     * The strongest verdict on earlier calls that this announcement settled, since a later step
     * began before their outcomes came. It says nothing about this call.
     */
    unstuck_verdict_t settled;
} unstuck_announced_t;

/**
 * What came back from a call, as digests. Zeros are a good beginning: they stand for a call that
 * worked, with a result of digest 0.
 */
typedef struct {
    /**
     * What stands for the result, without what is volatile in it.
     */
    uint64_t result;
    /**
     * What stands for the result without its numbers, too; read where has_near is set.
     */
    uint64_t near_result;
    /**
     * How good the outcome is: less is better, as in the number of failing tests, or the distance
     * to a goal. Less than ever before of tools with the same tag is progress. Read where has_score
     * is set.
     */
    uint32_t score;
    /**
     * Whether near_result counts: 0 for no, anything else for yes.
     */
    uint8_t has_near;
    /**
     * Whether score counts: 0 for no, anything else for yes.
     */
    uint8_t has_score;
    /**
     * Whether the call failed: 0 for no, anything else for yes.
     */
    uint8_t failed;
    /**
     * Whether the result says nothing (empty, "ok"): 0 for no, anything else for yes. Such a result
     * is no evidence between calls with different arguments.
     */
    uint8_t silent;
    /**
     * The digest of the raw answer, its volatile parts included: equal answers prove that an
     * idempotent call does not help. Read where has_raw is set; without it, equal results are equal
     * answers.
     */
    uint64_t raw;
    /**
     * Whether raw counts: 0 for no, anything else for yes.
     */
    uint8_t has_raw;
    /**
     * Whether the answer says that something is still under way: 0 for no, anything else for yes. The
     * call counts as one with UNSTUCK_TAG_POLL, unless it tests or ends the run.
     */
    uint8_t pending;
    /**
     * Whether the call timed out: 0 for no, anything else for yes. It is judged one repetition later
     * than others.
     */
    uint8_t timed_out;
    /**
     * Not read.
     */
    uint8_t reserved[5];
} unstuck_outcome_t;

/**
 * What holds for the calls of one tool.
 */
typedef struct {
    /**
     * Which tool.
     */
    uint32_t tool;
    /**
     * Whether its calls are not recorded: 0 for no, anything else for yes.
     */
    uint8_t exempt;
    /**
     * Whether its calls have UNSTUCK_TAG_POLL, whatever tag they come with: 0 for no, anything else
     * for yes.
     */
    uint8_t poll;
    /**
     * How many repetitions more than a rule says are asked for where its pattern ends with a call of
     * this tool; fewer, if negative. Never fewer than 2.
     */
    int8_t patience;
    /**
     * Not read.
     */
    uint8_t reserved;
} unstuck_tool_rule_t;

/**
 * Counts over the life of a detector. Every count stops at its greatest value.
 */
typedef struct {
    /**
     * How many calls and text-only turns were looked at.
     */
    uint32_t checks;
    /**
     * How many verdicts had a finding, by unstuck_kind_t.
     */
    uint32_t findings[5];
    /**
     * How many verdicts with a finding asked for what, by unstuck_action_t.
     */
    uint32_t actions[6];
    /**
     * How many findings were called wrong.
     */
    uint32_t false_positives;
} unstuck_statistics_t;

/**
 * How near a rule is to a finding.
 */
typedef struct {
    /**
     * How many calls, or turns, of its pattern there are; 0 where nothing was seen yet.
     */
    uint16_t held;
    /**
     * How many a finding takes.
     */
    uint16_t needed;
    /**
     * Which rule, by its place in the policy, counted from 0; see unstuck_rule_name().
     */
    uint8_t rule;
    /**
     * 1 if that is a rule about text-only turns, which are counted apart, else 0.
     */
    uint8_t about_text;
    /**
     * Always 0.
     */
    uint8_t reserved[2];
} unstuck_nearness_t;

/**
 * One rung of a ladder: from this count on, this action.
 */
typedef struct {
    /**
     * The count from which on the rung holds, 1 or more. Counts rise from rung to rung.
     */
    uint16_t count;
    /**
     * What to do there: one of unstuck_action_t. Actions do not fall from rung to rung.
     */
    uint8_t action;
    /**
     * Not read.
     */
    uint8_t reserved;
} unstuck_rung_t;

/**
 * What must match, which calls count, how they recur, and what to do about it. Zeros are a good
 * beginning: every call, the same tool and arguments whatever comes back, in a row.
 */
typedef struct {
    /**
     * What findings call the rule. Must stay where it is as long as the policy does.
     */
    const char *name;
    /**
     * The ladder, from its lowest rung: rung_count rungs.
     */
    const unstuck_rung_t *rungs;
    /**
     * How many rungs there are, 1 to 10.
     */
    uint8_t rung_count;
    /**
     * What the ladder counts: one of unstuck_basis_t.
     */
    uint8_t basis;
    /**
     * How things recur: one of unstuck_kind_t. UNSTUCK_TEXT counts turns without a call, those with
     * the same text if args is UNSTUCK_ARGS_SAME, and all of them else; if prompts is set it counts
     * messages of the user instead. UNSTUCK_ECHO counts what repeats inside a turn. Of such a rule
     * only name, ladder and times are read beside that.
     */
    uint8_t kind;
    /**
     * What two calls must have in common: one of unstuck_args_t.
     */
    uint8_t args;
    /**
     * What their outcomes must have in common: one of unstuck_results_t.
     */
    uint8_t results;
    /**
     * Which calls the rule sees: one of unstuck_select_t.
     */
    uint8_t select;
    /**
     * The tag that select is about: one of unstuck_tag_t.
     */
    uint8_t select_tag;
    /**
     * Which outcomes match: 0 for any. 1 for failures, and a call that the rule sees and that worked
     * breaks the pattern. 2 for failures, and a call that worked is passed over.
     */
    uint8_t failed;
    /**
     * How often: records of a streak or recurrence, laps of a cycle, turns; 2 or more.
     */
    uint16_t times;
    /**
     * A recurrence: among how many records, the window at most.
     */
    uint8_t within;
    /**
     * A recurrence: how many new calls may stand between the matches; 255 for any number.
     */
    uint8_t novel;
    /**
     * A cycle: the shortest lap, in calls; 2 or more.
     */
    uint8_t period_min;
    /**
     * A cycle: the longest lap.
     */
    uint8_t period_max;
    /**
     * How progress counts: 0 if a pattern that holds progress is no loop. 1 if it is a loop all the
     * same. 2 if nothing is a loop as long as there is progress anywhere in the window.
     */
    uint8_t ignore_progress;
    /**
     * Whether silent results of different calls are as much evidence as others: 0 for no, anything
     * else for yes.
     */
    uint8_t count_silence;
    /**
     * The most to ask for while the latest outcome is silent: one of unstuck_action_t; 0 for whatever
     * the ladder says.
     */
    uint8_t silent_max;
    /**
     * Whether the rule asks for more than a warning only if running the call again is known not to
     * help: 0 for no, anything else for yes. It is known if the calls fail alike, if idempotent calls
     * have equal answers (raw), or after 24 equal answers in a row.
     */
    uint8_t force_proven;
    /**
     * A rule of UNSTUCK_TEXT: whether it counts how often the user sent the same message in a row,
     * with no call between. 0 for no, anything else for yes.
     */
    uint8_t prompts;
    /**
     * Not read.
     */
    uint8_t reserved[5];
} unstuck_rule_t;

/**
 * The rules of a policy of your own.
 */
typedef struct {
    /**
     * What the policy is called. Must stay where it is as long as the policy does.
     */
    const char *name;
    /**
     * The rules, in the order in which they are judged: count rules.
     */
    const unstuck_rule_t *rules;
    /**
     * How many rules there are: 1 to 14 about calls, and up to 4 about text.
     */
    size_t count;
    /**
     * Whose calls are not recorded: bit n stands for the tag n of unstuck_tag_t.
     */
    uint16_t exempt_tags;
    /**
     * How many records the rules look back over, 1 to 64, and at most the detector's window.
     */
    uint8_t window;
    /**
     * Not read.
     */
    uint8_t reserved[5];
} unstuck_rules_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * How many bytes a detector of a window of 8 takes in this build: UNSTUCK_SIZE_8 at most.
 */
size_t unstuck_sizeof_8(void);

/**
 * How many bytes a detector of a window of 20 takes in this build: UNSTUCK_SIZE_20 at most.
 */
size_t unstuck_sizeof_20(void);

/**
 * How many bytes a detector of a window of 64 takes in this build: UNSTUCK_SIZE_64 at most.
 */
size_t unstuck_sizeof_64(void);

/**
 * What a detector is aligned to in this build, in bytes: UNSTUCK_ALIGN at most.
 */
size_t unstuck_alignof(void);

/**
 * Puts a new detector into storage, that holds the latest 8 calls. The presets look back further:
 * this is for policies of your own.
 *
 * As unstuck_init_20(), with UNSTUCK_SIZE_8 bytes.
 */
unstuck_status_t unstuck_init_8(void *storage,
                                size_t size,
                                const unstuck_policy_t *policy,
                                unstuck_t **detector);

/**
 * Puts a new detector into storage, that holds the latest 20 calls: enough for every preset.
 *
 * storage: size bytes, of which UNSTUCK_SIZE_20 are enough, aligned to UNSTUCK_ALIGN. It belongs to
 * the detector from now on and must not be moved; there is nothing to free, and what it held before
 * does not matter. policy: must stay as it is for as long. detector: receives the address of the
 * detector, which is that of storage. Takes the size of the detector on the stack.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_POLICY;
 * UNSTUCK_WINDOW if the policy looks back further.
 */
unstuck_status_t unstuck_init_20(void *storage,
                                 size_t size,
                                 const unstuck_policy_t *policy,
                                 unstuck_t **detector);

/**
 * Puts a new detector into storage, that holds the latest 64 calls: for policies of your own.
 *
 * As unstuck_init_20(), with UNSTUCK_SIZE_64 bytes.
 */
unstuck_status_t unstuck_init_64(void *storage,
                                 size_t size,
                                 const unstuck_policy_t *policy,
                                 unstuck_t **detector);

/**
 * The agent asks for call. Judges it by the rules that need no outcome, before it runs; a call that
 * continues a loop whose ladder has reached UNSTUCK_BLOCK is blocked.
 *
 * Calls that still wait when a later step begins settle as unreported. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR; UNSTUCK_VALUE for a tag that is none.
 */
unstuck_status_t unstuck_announce(unstuck_t *detector,
                                  const unstuck_call_t *call,
                                  unstuck_announced_t *announced);

/**
 * The outcome of a call has come. Judges every call that settles with it: they settle in the order
 * in which they were announced. The verdict is the strongest.
 *
 * An outcome that comes late, twice, or for an exempt call changes nothing. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR, UNSTUCK_NO_CALL.
 */
unstuck_status_t unstuck_outcome(unstuck_t *detector,
                                 const unstuck_call_id_t *call,
                                 const unstuck_outcome_t *outcome,
                                 unstuck_verdict_t *verdict);

/**
 * The call was not run, since somebody blocked it. It still counts as an attempt, and stands for any
 * result. The verdict and the errors are as those of unstuck_outcome().
 */
unstuck_status_t unstuck_vetoed(unstuck_t *detector,
                                const unstuck_call_id_t *call,
                                unstuck_verdict_t *verdict);

/**
 * No more outcomes will come: what waits settles as unreported. The verdict is the strongest.
 * Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_finish(unstuck_t *detector, unstuck_verdict_t *verdict);

/**
 * The agent took a turn without calling a tool, and said what text stands for.
 *
 * laps: how often the end of the text says the same in a row; 0 or 1 where nothing repeats.
 * period: of how many words. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_turn(unstuck_t *detector,
                              uint64_t text,
                              uint8_t period,
                              uint16_t laps,
                              unstuck_verdict_t *verdict);

/**
 * The user says what message stands for. A new instruction starts everything afresh; one seen before
 * (an automatic "please continue") is none, and a rule about prompts may find that it comes again and
 * again with no call between. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_user_message(unstuck_t *detector,
                                      uint64_t message,
                                      unstuck_verdict_t *verdict);

/**
 * Writes a short English message for the agent that is stuck into a buffer of size bytes, as
 * snprintf() would: as much as fits, always with a NUL, and never a part of a character (UTF-8).
 *
 * verdict: one of this detector, made since it was initialised or restored. tool: the name of the
 * tool that verdict->finding.tool stands for, UTF-8; NULL for one without a name. The message names
 * it and numbers, and echoes neither arguments nor results.
 *
 * Returns its length without the NUL, however much was written; 0 where there is nothing to say:
 * without a finding, without a detector, with a field that no verdict holds, or a name that is not
 * UTF-8. The buffer may be NULL where size is 0.
 */
size_t unstuck_nudge(unstuck_t *detector,
                     const unstuck_verdict_t *verdict,
                     const char *tool,
                     char *buffer,
                     size_t size);

/**
 * The default, tuned on labelled runs: the same call with the same result, cycles, failures,
 * waiting and talk, from a nudge to a stop. Window 20.
 */
const unstuck_policy_t *unstuck_balanced(void);

/**
 * The same call with the same result five times among the last 20: start over. Window 20.
 */
const unstuck_policy_t *unstuck_start_over(void);

/**
 * The same call three times among 11, or a cycle of 2 to 5 calls run twice: warn, warn again, stop.
 * Blind to results. Window 20.
 */
const unstuck_policy_t *unstuck_graduated(void);

/**
 * As unstuck_graduated(), slower: five among 16, or a cycle of 3 to 5 run three times. Window 20.
 */
const unstuck_policy_t *unstuck_graduated_conservative(void);

/**
 * As unstuck_graduated(), quicker: two among 11, or a cycle of 2 to 4 run twice. Window 20.
 */
const unstuck_policy_t *unstuck_graduated_aggressive(void);

/**
 * Nudges early: the same call three times in a row, alike ones four times, three failing test runs
 * or commands, three turns of talk. Blind to results. Window 10.
 */
const unstuck_policy_t *unstuck_nudge_early(void);

/**
 * The same call twice in a row, or a cycle of 2 or 3 calls run twice; climbs with each finding of
 * the same loop. Blind to results. Window 20.
 */
const unstuck_policy_t *unstuck_cycles(void);

/**
 * The same call three times among the last 20: stop. Blind to results. Window 20.
 */
const unstuck_policy_t *unstuck_repeat(void);

/**
 * Writes the name of a policy into a buffer of size bytes, as snprintf() would: as much as fits,
 * always with a NUL, and never a part of a character. Returns its length without the NUL; 0 for what
 * is no policy. The buffer may be NULL where size is 0.
 */
size_t unstuck_policy_name(const unstuck_policy_t *policy,
                           char *buffer,
                           size_t size);

/**
 * Writes the name of a rule into a buffer of size bytes, as unstuck_policy_name() does. The rule is
 * the one that a finding names by rule and about_text. Returns its length without the NUL; 0 where
 * there is no such rule.
 */
size_t unstuck_rule_name(const unstuck_policy_t *policy,
                         uint8_t rule,
                         uint8_t about_text,
                         char *buffer,
                         size_t size);

/**
 * How many calls a policy looks back over, and so the least window of a detector that follows it; 0
 * for what is no policy.
 */
uint8_t unstuck_policy_window(const unstuck_policy_t *policy);

/**
 * Makes a policy with the rules of base, and with what rules says of single tools, in storage of the
 * caller's.
 *
 * storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_POLICY_SIZE(count) are enough. It must stay
 * as it is for as long as a detector follows the policy, and so must base and its storage: its rules
 * are not copied, and what it says of single tools does not hold here. rules may be thrown away
 * afterwards. policy: receives the address of the policy, which is that of storage.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_POLICY;
 * UNSTUCK_RULES if there are more than 64, or two about one tool. Where there is an error storage may
 * hold anything.
 */
unstuck_status_t unstuck_policy_with_tools(void *storage,
                                           size_t size,
                                           const unstuck_policy_t *base,
                                           const unstuck_tool_rule_t *rules,
                                           size_t count,
                                           const unstuck_policy_t **policy);

/**
 * Forgets all calls, turns, scores and loops: a new run begins. Sequence numbers go on, and user
 * messages, feedback and statistics stay. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_clear(unstuck_t *detector);

/**
 * The host knows that something moved, whatever the answers say: the oldest call that waits, or else
 * the next one, is progress. Say so before the outcome of the call that moved it. Errors:
 * UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_progress(unstuck_t *detector);

/**
 * The finding of verdict was wrong: its rule asks for one repetition more of that tool, and the same
 * kind of finding is not made of that loop again.
 *
 * verdict: one of this detector, made since it was initialised or restored. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR, UNSTUCK_NO_FINDING; UNSTUCK_VALUE if a field holds what no verdict does.
 */
unstuck_status_t unstuck_false_positive(unstuck_t *detector,
                                        const unstuck_verdict_t *verdict);

/**
 * The loop loop_id is none: it is not found again, as long as it is among the eight silenced last.
 * Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_silence(unstuck_t *detector, uint64_t loop_id);

/**
 * What the detector has seen and said since it was made. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_statistics(unstuck_t *detector, unstuck_statistics_t *statistics);

/**
 * Puts empty groups into storage: size bytes, of which UNSTUCK_GROUPS_SIZE are enough, aligned to
 * UNSTUCK_ALIGN. Also empties those that are there: a new run begins.
 *
 * groups: receives the address of the groups, which is that of storage. Errors: UNSTUCK_NULL,
 * UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED.
 */
unstuck_status_t unstuck_groups_init(void *storage, size_t size, unstuck_groups_t **groups);

/**
 * The agent asks for tool with the arguments args: length bytes of JSON; what is not JSON is taken
 * as it stands. As unstuck_announce(), with digests and a tag made from them.
 *
 * groups: to find calls that are alike by their words; NULL to hold only equal ones alike, as far as
 * the policy's recipe says nothing else. tool: UTF-8. step: the step, or NULL for one of its own:
 * calls that the agent issued together share one. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR,
 * UNSTUCK_NO_GROUPS, UNSTUCK_NOT_UTF8 for the name of the tool.
 */
unstuck_status_t unstuck_announce_json(unstuck_t *detector,
                                       unstuck_groups_t *groups,
                                       const char *tool,
                                       const char *args,
                                       size_t length,
                                       const uint64_t *step,
                                       unstuck_announced_t *announced);

/**
 * A result has come for call, of tool: length bytes of text. As unstuck_outcome(), with digests made
 * from it.
 *
 * failed: whether the host knows that the call failed: 0 for no, anything else for yes; the default
 * policy also reads failures, and how many tests fail, from results of tools that do not read or
 * write. Of what is not UTF-8 only the bytes are compared. Errors: those of unstuck_outcome(), and
 * UNSTUCK_NOT_UTF8 for the name of the tool.
 */
unstuck_status_t unstuck_outcome_text(unstuck_t *detector,
                                      const unstuck_call_id_t *call,
                                      const char *tool,
                                      const char *text,
                                      size_t length,
                                      uint8_t failed,
                                      unstuck_verdict_t *verdict);

/**
 * The agent took a turn without calling a tool, and said so much: length bytes of text. As
 * unstuck_turn(). Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_turn_text(unstuck_t *detector,
                                   const char *text,
                                   size_t length,
                                   unstuck_verdict_t *verdict);

/**
 * The user says so much: length bytes of text. As unstuck_user_message(). Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_user_message_text(unstuck_t *detector,
                                           const char *text,
                                           size_t length,
                                           unstuck_verdict_t *verdict);

/**
 * The tool called name, which is UTF-8 and ends with a NUL: 32 bits of a hash. Two of ten tools share
 * one with a probability of one in a hundred million; numbers of your own are as good. 0 for NULL and
 * for what is not UTF-8.
 */
uint32_t unstuck_tool(const char *name);

/**
 * The digest of length bytes, by 64-bit FNV-1a and an avalanche: equal bytes have equal digests. Who
 * chooses the bytes can make two collide. That of no bytes for NULL.
 */
uint64_t unstuck_digest(const char *bytes,
                        size_t length);

/**
 * The digest of two digests, in this order.
 */
uint64_t unstuck_mix(uint64_t first, uint64_t second);

/**
 * The fingerprint of one JSON value of length bytes: one meaning, one digest, whatever the order of
 * members, the white space and the spelling of numbers and strings.
 *
 * Takes some 2 KiB of stack. Errors: UNSTUCK_NULL; UNSTUCK_NOT_JSON, also for what is not UTF-8 or
 * nests beyond 128 levels.
 */
unstuck_status_t unstuck_json_fingerprint(const char *json, size_t length, uint64_t *digest);

/**
 * The digests of a result of length bytes, for unstuck_outcome_t: result without what is volatile
 * (clock times, durations, ids, addresses, temporary paths, colours), near_result without any number.
 *
 * Any bytes may be given. Errors: UNSTUCK_NULL.
 */
unstuck_status_t unstuck_text_digest(const char *text,
                                     size_t length,
                                     uint64_t *result,
                                     uint64_t *near_result);

/**
 * 1 if a result of length bytes says nothing but that the call came back ("", "ok", "{}"), for
 * unstuck_outcome_t, else 0; also for NULL with a length, and for what is not UTF-8.
 */
uint8_t unstuck_text_is_silent(const char *text, size_t length);

/**
 * A call that waits for its outcome will not be run: as if it had never been announced, but for its
 * number. The verdict is the strongest on the calls that settle with that. For a call that somebody
 * refused there is unstuck_vetoed(). For a detector of a window of 8.
 *
 * Errors: those of unstuck_outcome(), and UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_cancel_8(unstuck_t *detector,
                                  const unstuck_call_id_t *call,
                                  unstuck_verdict_t *verdict);

/**
 * The latest calls are taken back: the provider of the model failed, and sends them again. Their
 * numbers are given again. For a detector of a window of 8.
 *
 * taken: receives how many were; those that have left the window stay. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_retry_8(unstuck_t *detector, size_t calls, size_t *taken);

/**
 * What the verdict on call would be if it were announced now. Changes nothing. Takes the size of the
 * detector on the stack. For a detector of a window of 8.
 *
 * Errors: those of unstuck_announce(), and UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_peek_8(unstuck_t *detector,
                                const unstuck_call_t *call,
                                unstuck_verdict_t *verdict);

/**
 * The rule that is nearest to a finding, by the share of the calls that it takes: an early warning,
 * if it is heard from two thirds on. All zeros where nothing was seen yet. For a detector of a window
 * of 8.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_nearest_8(unstuck_t *detector,
                                   unstuck_nearness_t *nearness);

/**
 * A call that waits for its outcome will not be run: as if it had never been announced, but for its
 * number. The verdict is the strongest on the calls that settle with that. For a call that somebody
 * refused there is unstuck_vetoed(). For a detector of a window of 20.
 *
 * Errors: those of unstuck_outcome(), and UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_cancel_20(unstuck_t *detector,
                                   const unstuck_call_id_t *call,
                                   unstuck_verdict_t *verdict);

/**
 * The latest calls are taken back: the provider of the model failed, and sends them again. Their
 * numbers are given again. For a detector of a window of 20.
 *
 * taken: receives how many were; those that have left the window stay. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_retry_20(unstuck_t *detector, size_t calls, size_t *taken);

/**
 * What the verdict on call would be if it were announced now. Changes nothing. Takes the size of the
 * detector on the stack. For a detector of a window of 20.
 *
 * Errors: those of unstuck_announce(), and UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_peek_20(unstuck_t *detector,
                                 const unstuck_call_t *call,
                                 unstuck_verdict_t *verdict);

/**
 * The rule that is nearest to a finding, by the share of the calls that it takes: an early warning,
 * if it is heard from two thirds on. All zeros where nothing was seen yet. For a detector of a window
 * of 20.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_nearest_20(unstuck_t *detector,
                                    unstuck_nearness_t *nearness);

/**
 * A call that waits for its outcome will not be run: as if it had never been announced, but for its
 * number. The verdict is the strongest on the calls that settle with that. For a call that somebody
 * refused there is unstuck_vetoed(). For a detector of a window of 64.
 *
 * Errors: those of unstuck_outcome(), and UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_cancel_64(unstuck_t *detector,
                                   const unstuck_call_id_t *call,
                                   unstuck_verdict_t *verdict);

/**
 * The latest calls are taken back: the provider of the model failed, and sends them again. Their
 * numbers are given again. For a detector of a window of 64.
 *
 * taken: receives how many were; those that have left the window stay. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_retry_64(unstuck_t *detector, size_t calls, size_t *taken);

/**
 * What the verdict on call would be if it were announced now. Changes nothing. Takes the size of the
 * detector on the stack. For a detector of a window of 64.
 *
 * Errors: those of unstuck_announce(), and UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_peek_64(unstuck_t *detector,
                                 const unstuck_call_t *call,
                                 unstuck_verdict_t *verdict);

/**
 * The rule that is nearest to a finding, by the share of the calls that it takes: an early warning,
 * if it is heard from two thirds on. All zeros where nothing was seen yet. For a detector of a window
 * of 64.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
 */
unstuck_status_t unstuck_nearest_64(unstuck_t *detector,
                                    unstuck_nearness_t *nearness);

/**
 * Writes everything that a detector of a window of 20 knows, but for the policy, into a buffer of
 * size bytes: to go on from after a reset.
 *
 * length: receives how many were written; UNSTUCK_CHECKPOINT_20 are always enough. Takes some KiB of
 * stack. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR, UNSTUCK_BUFFER_SHORT; UNSTUCK_WINDOW if the
 * detector is of another window. Where there is an error the buffer may hold anything.
 */
unstuck_status_t unstuck_save_20(unstuck_t *detector,
                                 char *buffer,
                                 size_t size,
                                 size_t *length);

/**
 * Puts the detector into storage that unstuck_save_20() wrote, to go on as if nothing had happened.
 * Storage, policy and detector are as for unstuck_init_20().
 *
 * checkpoint: length bytes; any may be given. Names of calls that were given before it was written
 * stay good, and verdicts do not. Takes some KiB of stack. Errors: those of unstuck_init_20(), and
 * UNSTUCK_CHECKPOINT_DAMAGED, UNSTUCK_CHECKPOINT_VERSION, UNSTUCK_CHECKPOINT_POLICY; then the storage
 * is as it was.
 */
unstuck_status_t unstuck_restore_20(void *storage,
                                    size_t size,
                                    const unstuck_policy_t *policy,
                                    const char *checkpoint,
                                    size_t length,
                                    unstuck_t **detector);

/**
 * Writes everything that a detector of a window of 8 knows, but for the policy, into a buffer of
 * size bytes: to go on from after a reset. As unstuck_save_20().
 */
unstuck_status_t unstuck_save_8(unstuck_t *detector, char *buffer, size_t size, size_t *length);

/**
 * Puts the detector into storage that unstuck_save_8() wrote, to go on as if nothing had happened.
 * As unstuck_restore_20().
 */
unstuck_status_t unstuck_restore_8(void *storage,
                                   size_t size,
                                   const unstuck_policy_t *policy,
                                   const char *checkpoint,
                                   size_t length,
                                   unstuck_t **detector);

/**
 * Writes everything that a detector of a window of 64 knows, but for the policy, into a buffer of
 * size bytes: to go on from after a reset. As unstuck_save_20().
 */
unstuck_status_t unstuck_save_64(unstuck_t *detector, char *buffer, size_t size, size_t *length);

/**
 * Puts the detector into storage that unstuck_save_64() wrote, to go on as if nothing had happened.
 * As unstuck_restore_20().
 */
unstuck_status_t unstuck_restore_64(void *storage,
                                    size_t size,
                                    const unstuck_policy_t *policy,
                                    const char *checkpoint,
                                    size_t length,
                                    unstuck_t **detector);

/**
 * Makes a policy of rules of your own, in storage of the caller's. Digests for it are made as for
 * unstuck_balanced().
 *
 * storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_RULES_SIZE(rules, rungs) are enough for so
 * many rules with so many rungs in all. It must stay as it is for as long as a detector follows the
 * policy. rules and all that it points at may be thrown away afterwards, but for the names. policy:
 * receives the address of the policy, which is that of storage.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NOT_UTF8;
 * UNSTUCK_VALUE for a number that is none of its enumeration; UNSTUCK_RULES for rules that cannot
 * work. Where there is an error storage may hold anything.
 */
unstuck_status_t unstuck_policy_of_rules(void *storage,
                                         size_t size,
                                         const unstuck_rules_t *rules,
                                         const unstuck_policy_t **policy);

/**
 * What a status means, in English, for a log.
 *
 * Never freed. NULL for a number that is none of unstuck_status_t.
 */
const char *unstuck_status_message(int32_t status);

/**
 * The one spelling of an action: "proceed", "nudge", "warn", "block", "start_over", "stop".
 *
 * Never freed. NULL for a number that is none of unstuck_action_t.
 */
const char *unstuck_action_name(uint8_t action);

/**
 * The one spelling of a kind: "streak", "recurrence", "cycle", "text", "echo".
 *
 * Never freed. NULL for a number that is none of unstuck_kind_t.
 */
const char *unstuck_kind_name(uint8_t kind);

/**
 * The one spelling of a tag: "other", "test", "shell", "read", "write", "search", "poll", "think",
 * "finish", "start_over", "act".
 *
 * Never freed. NULL for a number that is none of unstuck_tag_t.
 */
const char *unstuck_tag_name(uint8_t tag);

/**
 * The version of the library that the program runs with, as in "0.1.0".
 *
 * Never freed.
 */
const char *unstuck_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* UNSTUCK_H */
