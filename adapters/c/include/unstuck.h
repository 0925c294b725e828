/* The engine of unstuck for C11 and C++17: loop detection for agents that call tools.
 *
 * Do not edit: `cargo run -p unstuck-c --example header` makes it from the sources of the library.
 *
 * These rules hold for every function:
 *
 * - There is no allocation, no lock, no clock and no I/O. A detector lives in storage of the caller, and
 *   there is nothing to free. One thread at a time may use a detector. Two threads may use two detectors.
 * - NULL, short or misaligned storage, storage without a detector, numbers out of range and damaged
 *   checkpoints give a status and change nothing. Not detected are dangling pointers, lengths beyond the
 *   object, text without its NUL, and storage that was overwritten behind its first bytes. Do not use
 *   storage that another program left, or this program before a reset: use a checkpoint.
 * - Inputs and outputs must not overlap.
 * - Lengths and sizes are in bytes. Texts are UTF-8. A text without a length ends with a NUL.
 * - Equal digests mean equal values. 0 is a valid digest.
 */

#ifndef UNSTUCK_H
#define UNSTUCK_H

#include <stddef.h>
#include <stdint.h>

/* The size in bytes of a policy with rules for this many tools. */
#define UNSTUCK_POLICY_SIZE(tools) (UNSTUCK_POLICY_HEAD + (tools) * UNSTUCK_POLICY_TOOL)

/* The size in bytes of a policy with this many rules of your own, with this many rungs in all. */
#define UNSTUCK_RULES_SIZE(rules, rungs) \
    (UNSTUCK_POLICY_HEAD + (rules) * UNSTUCK_POLICY_RULE + (rungs) * UNSTUCK_POLICY_RUNG)

/**
 * The alignment of every storage, in bytes.
 */
#define UNSTUCK_ALIGN 8

/**
 * The size in bytes of a detector that holds the latest 8 calls.
 */
#define UNSTUCK_SIZE_8 1152

/**
 * The size in bytes of a detector that holds the latest 20 calls.
 */
#define UNSTUCK_SIZE_20 1520

/**
 * The size in bytes of a detector that holds the latest 64 calls.
 */
#define UNSTUCK_SIZE_64 2832

/**
 * The number of calls that may wait for their outcomes. If there are more, the oldest is given up.
 */
#define UNSTUCK_OPEN_MAX 8

/**
 * The size in bytes of the longest nudge with its NUL, for a tool name of at most 64 bytes.
 */
#define UNSTUCK_NUDGE_MAX 384

/**
 * The size in bytes of a policy of your own without its rules: see UNSTUCK_POLICY_SIZE().
 */
#define UNSTUCK_POLICY_HEAD 224

/**
 * The size in bytes of each rule for a tool.
 */
#define UNSTUCK_POLICY_TOOL 8

/**
 * The size in bytes of the storage for similar calls.
 */
#define UNSTUCK_SIMILAR_SIZE 2320

/**
 * The largest size in bytes of a checkpoint of a detector that holds 8 calls.
 */
#define UNSTUCK_CHECKPOINT_8 1694

/**
 * The largest size in bytes of a checkpoint of a detector that holds 20 calls.
 */
#define UNSTUCK_CHECKPOINT_20 2270

/**
 * The largest size in bytes of a checkpoint of a detector that holds 64 calls.
 */
#define UNSTUCK_CHECKPOINT_64 4382

/**
 * The size in bytes of each rule of your own in a policy.
 */
#define UNSTUCK_POLICY_RULE 64

/**
 * The size in bytes of each rung.
 */
#define UNSTUCK_POLICY_RUNG 4

/**
 * The status of a call of this library. If it is not UNSTUCK_OK, nothing has happened, and no result was
 * written.
 */
enum unstuck_status_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Success.
     */
    UNSTUCK_OK = 0,
    /**
     * A pointer is NULL but must not be.
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
     * The storage holds no detector: it was never initialised, was moved, or was overwritten.
     */
    UNSTUCK_NO_DETECTOR = 4,
    /**
     * The pointer is not a policy, or the policy was moved.
     */
    UNSTUCK_NO_POLICY = 5,
    /**
     * The storage holds no similar calls: it was never initialised, was moved, or was overwritten.
     */
    UNSTUCK_NO_SIMILAR = 6,
    /**
     * The policy looks back over more calls than the window holds.
     */
    UNSTUCK_WINDOW = 7,
    /**
     * A number is outside its enumeration or its range.
     */
    UNSTUCK_VALUE = 8,
    /**
     * The id of a call does not come from this library.
     */
    UNSTUCK_NO_CALL = 9,
    /**
     * The verdict has no finding, or the detector never returned one.
     */
    UNSTUCK_NO_FINDING = 10,
    /**
     * The rules cannot work.
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
     * The buffer is too short.
     */
    UNSTUCK_BUFFER_SHORT = 14,
    /**
     * The bytes are not a checkpoint, or a damaged one.
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
    /**
     * The pointer is not a window.
     */
    UNSTUCK_NO_WINDOW = 18,
    /**
     * The function needs a detector with a full window, for example unstuck_full_window_20().
     */
    UNSTUCK_NOT_FULL = 19,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_status_t unstuck_status_t;
#else
typedef int32_t unstuck_status_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The action that a verdict asks for. A greater number is a stronger action.
 */
enum unstuck_action_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Continue.
     */
    UNSTUCK_PROCEED = 0,
    /**
     * Mention the loop to the agent.
     */
    UNSTUCK_NUDGE = 1,
    /**
     * Warn the agent.
     */
    UNSTUCK_WARN = 2,
    /**
     * Do not run the call. Give the reason to the agent, and report it by unstuck_vetoed().
     */
    UNSTUCK_BLOCK = 3,
    /**
     * Discard the work since the start and begin again.
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
 * The kind of a pattern.
 */
enum unstuck_kind_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The same call several times in a row.
     */
    UNSTUCK_STREAK = 0,
    /**
     * The same call several times with other calls between.
     */
    UNSTUCK_RECURRENCE = 1,
    /**
     * A repeated sequence of calls.
     */
    UNSTUCK_CYCLE = 2,
    /**
     * Text-only turns in a row.
     */
    UNSTUCK_TEXT = 3,
    /**
     * A sequence of words repeated inside one turn.
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
 * The parts of two calls that must be equal to match.
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
     * The same tool and similar arguments.
     */
    UNSTUCK_ARGS_SIMILAR = 1,
    /**
     * The same tool.
     */
    UNSTUCK_ARGS_SAME_TOOL = 2,
    /**
     * No part: any two calls match.
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
 * The parts of two outcomes that must be equal to match.
 */
enum unstuck_results_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * No part: results are ignored.
     */
    UNSTUCK_RESULTS_IGNORED = 0,
    /**
     * The same result.
     */
    UNSTUCK_RESULTS_SAME = 1,
    /**
     * The same result except for its numbers.
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
 * The kind of a tool, which rules and nudges use.
 */
enum unstuck_tag_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Any other tool.
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
     * Asks for the state of something that is still under way.
     */
    UNSTUCK_TAG_POLL = 6,
    /**
     * Only thinks or plans.
     */
    UNSTUCK_TAG_THINK = 7,
    /**
     * Ends the run or hands it to another agent.
     */
    UNSTUCK_TAG_FINISH = 8,
    /**
     * Discards the work and starts over.
     */
    UNSTUCK_TAG_START_OVER = 9,
    /**
     * Acts, for example presses a key, clicks or moves. An equal confirmation proves nothing.
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
 * The count that a ladder uses.
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
 * The calls that a rule sees. It skips the others.
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
     * Calls without an outcome.
     */
    UNSTUCK_SELECT_UNREPORTED = 3,
    /**
     * Calls of the tool of the rule.
     */
    UNSTUCK_SELECT_TOOL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum unstuck_select_t unstuck_select_t;
#else
typedef uint8_t unstuck_select_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A set of rules, with a recipe for digests. Many detectors may share one.
 */
typedef struct unstuck_policy_t unstuck_policy_t;

/**
 * The groups of similar calls of one worker's run, in storage of the caller.
 */
typedef struct unstuck_similar_t unstuck_similar_t;

/**
 * A detector in storage of the caller, known by its address.
 */
typedef struct unstuck_t unstuck_t;

/**
 * The number of calls that a detector holds, with the code for it. A full window also has the code for
 * unstuck_peek(), unstuck_nearest(), unstuck_save() and unstuck_restore(), about 22 KB on a Cortex-M3.
 */
typedef struct unstuck_window_t unstuck_window_t;

/**
 * A call of a tool, as digests. Start from zeros: they are a call of tool 0 in a step of its own.
 *
 * Two calls are equal if tool and args are equal. unstuck_json_fingerprint() makes a good digest of JSON
 * arguments.
 */
typedef struct {
    /**
     * The digest of the arguments, with or without the tool.
     */
    uint64_t args;
    /**
     * The digest that similar calls of this tool share; read if has_similar is set.
     */
    uint64_t similar;
    /**
     * The step; read if has_step is set. Calls that the agent issued together share a step.
     */
    uint64_t step;
    /**
     * The tool: a number of your own, or the result of unstuck_tool().
     */
    uint32_t tool;
    /**
     * The kind of the tool: one of unstuck_tag_t.
     */
    uint8_t tag;
    /**
     * Nonzero if similar is set.
     */
    uint8_t has_similar;
    /**
     * Nonzero if step is set.
     */
    uint8_t has_step;
    /**
     * Nonzero if the call is idempotent. An idempotent call only reads, or
     * writes the same content to the same place, so an equal result proves that another call does not
     * help.
     */
    uint8_t idempotent;
} unstuck_call_t;

/**
 * The id of an announced call, to be passed with its outcome. It can be copied. Use seq in
 * unstuck_announced_t instead of its bytes.
 */
typedef struct {
    /**
     * Private to the detector.
     */
    uint8_t bytes[16];
} unstuck_call_id_t;

/**
 * The evidence for a verdict.
 */
typedef struct {
    /**
     * The sequence number of the first call of the pattern. For UNSTUCK_TEXT and UNSTUCK_ECHO it is a number
     * among text-only turns.
     */
    uint64_t first;
    /**
     * The sequence number of the last call of the pattern, which was judged.
     */
    uint64_t last;
    /**
     * The id of the loop. It is the same in every run in which equal calls with equal results repeat.
     */
    uint64_t loop_id;
    /**
     * The calls that prove it: bit n is the call with the number last - n. 0 if the rule is about text.
     */
    uint64_t evidence;
    /**
     * The tool of the last call.
     */
    uint32_t tool;
    /**
     * The number of repetitions: laps of a cycle, records of a streak or recurrence, or turns.
     */
    uint16_t laps;
    /**
     * The number of calls in a lap of a cycle, or of words for UNSTUCK_ECHO. Otherwise 1.
     */
    uint8_t period;
    /**
     * The confidence of the engine in percent.
     */
    uint8_t confidence;
    /**
     * The rule that fired, by its place in the policy, counted from 0; see unstuck_rule_name().
     */
    uint8_t rule;
    /**
     * 1 if the rule is about text-only turns, which have numbers of their own, else 0.
     */
    uint8_t about_text;
    /**
     * 1 if the last call failed, 2 if that failure may pass by itself, else 0.
     */
    uint8_t failed;
    /**
     * The kind of the pattern.
     */
    unstuck_kind_t kind;
    /**
     * The parts of the calls that are equal.
     */
    unstuck_args_t args;
    /**
     * The parts of the outcomes that are equal.
     */
    unstuck_results_t results;
    /**
     * The kind of the tool of the last call.
     */
    unstuck_tag_t tag;
    /**
     * The strongest action that further repetitions can lead to. UNSTUCK_WARN if the rule needs a proof
     * before it blocks, and there is no proof yet.
     */
    unstuck_action_t most;
} unstuck_finding_t;

/**
 * The engine's verdict on one event: an action and its evidence.
 */
typedef struct {
    /**
     * The action.
     */
    unstuck_action_t action;
    /**
     * The rung of the ladder that was reached, counted from 1; 0 below the first.
     */
    uint8_t rung;
    /**
     * 1 if the rung was reached just now, else 0. A host that sends nudges only then sends one for each rung.
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
 * The answer to an announcement.
 */
typedef struct {
    /**
     * The id of the call, for its outcome.
     */
    unstuck_call_id_t call;
    /**
     * The sequence number of the call: 0 for the first call of a detector, then one more each; read if
     * recorded is 1.
     */
    uint64_t seq;
    /**
     * 1 if the call is recorded; 0 if its tool or its tag is exempt. The outcome of an exempt call changes
     * nothing.
     */
    uint8_t recorded;
    /**
     * Always 0.
     */
    uint8_t reserved[7];
    /**
     * The verdict on this call before it runs. Do not run it if the action is UNSTUCK_BLOCK or stronger.
     */
    unstuck_verdict_t verdict;
    /**
     * The strongest verdict on earlier calls that this announcement settled, because a later step began
     * before their outcomes came. It says nothing about this call.
     */
    unstuck_verdict_t settled;
} unstuck_announced_t;

/**
 * The outcome of a call, as digests. Start from zeros: they are a success with a result of digest 0.
 */
typedef struct {
    /**
     * The digest of the result without volatile text.
     */
    uint64_t result;
    /**
     * The digest of the result without volatile text and numbers; read if has_near is set.
     */
    uint64_t near_result;
    /**
     * The score; read if has_score is set. Less is better, for example the number of failing tests or the
     * distance to a goal. A score below all earlier ones of tools with the same tag is progress.
     */
    uint32_t score;
    /**
     * Nonzero if near_result is set.
     */
    uint8_t has_near;
    /**
     * Nonzero if score is set.
     */
    uint8_t has_score;
    /**
     * Nonzero if the call failed.
     */
    uint8_t failed;
    /**
     * Nonzero if the result is silent (empty, "ok"). A silent result is no
     * evidence between calls with different arguments.
     */
    uint8_t silent;
    /**
     * The digest of the raw result, including volatile text; read if has_raw is set. Equal raw results prove
     * that an idempotent call does not help. Without it, result is used instead.
     */
    uint64_t raw;
    /**
     * Nonzero if raw is set.
     */
    uint8_t has_raw;
    /**
     * Nonzero if the result says that something is still under way. The call
     * then counts as a poll (UNSTUCK_TAG_POLL), unless it tests or ends the run.
     */
    uint8_t pending;
    /**
     * Nonzero if the failure may pass by itself: a time-out, a rate limit, a lock.
     * Such calls are allowed two more repetitions.
     */
    uint8_t transient;
    /**
     * Not read.
     */
    uint8_t reserved[5];
} unstuck_outcome_t;

/**
 * A rule for the calls of one tool.
 */
typedef struct {
    /**
     * The tool.
     */
    uint32_t tool;
    /**
     * Nonzero if its calls are not recorded.
     */
    uint8_t exempt;
    /**
     * Nonzero if its calls have UNSTUCK_TAG_POLL instead of their own tag.
     */
    uint8_t poll;
    /**
     * The number of additional repetitions that a pattern needs if it ends with a call of this tool. If
     * negative, it needs fewer, but at least 2.
     */
    int8_t patience;
    /**
     * Not read.
     */
    uint8_t reserved;
} unstuck_tool_rule_t;

/**
 * Counts over the life of a detector. Every count saturates at its largest value.
 */
typedef struct {
    /**
     * The number of calls and text-only turns.
     */
    uint32_t checks;
    /**
     * The number of verdicts with a finding, by unstuck_kind_t.
     */
    uint32_t findings[5];
    /**
     * The number of verdicts with a finding, by unstuck_action_t.
     */
    uint32_t actions[6];
    /**
     * The number of findings that were reported as wrong.
     */
    uint32_t false_positives;
} unstuck_statistics_t;

/**
 * The distance of a rule from a finding.
 */
typedef struct {
    /**
     * The number of calls or turns that match the rule's pattern so far.
     */
    uint16_t held;
    /**
     * The number of calls or turns that a finding needs.
     */
    uint16_t needed;
    /**
     * The rule, by its place in the policy, counted from 0; see unstuck_rule_name().
     */
    uint8_t rule;
    /**
     * 1 if the rule is about text-only turns, which have numbers of their own, else 0.
     */
    uint8_t about_text;
    /**
     * Always 0.
     */
    uint8_t reserved[2];
} unstuck_nearness_t;

/**
 * A rung of a ladder: an action, and the count that it starts at.
 */
typedef struct {
    /**
     * The count that the rung starts at, 1 or more. Counts rise from rung to rung.
     */
    uint16_t count;
    /**
     * The action: one of unstuck_action_t. Actions do not fall from rung to rung.
     */
    uint8_t action;
    /**
     * Not read.
     */
    uint8_t reserved;
} unstuck_rung_t;

/**
 * A rule: the calls that it sees, the pattern that it finds, and the ladder of actions. Start from zeros:
 * they find equal calls in a row among all calls, whatever their results.
 */
typedef struct {
    /**
     * The name of the rule. It must not move or change while the policy is in use.
     */
    const char *name;
    /**
     * The ladder, from its lowest rung: rung_count rungs.
     */
    const unstuck_rung_t *rungs;
    /**
     * The number of rungs, 1 to 10.
     */
    uint8_t rung_count;
    /**
     * The count that the ladder uses: one of unstuck_basis_t.
     */
    uint8_t basis;
    /**
     * The kind of the pattern: one of unstuck_kind_t. UNSTUCK_TEXT counts turns without a call: turns with
     * equal texts if args is UNSTUCK_ARGS_SAME, otherwise all turns. If prompts is set it counts messages
     * of the user instead. UNSTUCK_ECHO counts repetitions inside a turn. Besides these fields, rules of
     * both kinds use only name, ladder and times.
     */
    uint8_t kind;
    /**
     * The parts of calls that must be equal: one of unstuck_args_t.
     */
    uint8_t args;
    /**
     * The parts of outcomes that must be equal: one of unstuck_results_t.
     */
    uint8_t results;
    /**
     * The calls that the rule sees: one of unstuck_select_t.
     */
    uint8_t select;
    /**
     * The tag for select: one of unstuck_tag_t.
     */
    uint8_t select_tag;
    /**
     * The outcomes that match. 0: any outcome. 1: failures; a success that the rule sees breaks the pattern.
     * 2: failures; successes are skipped.
     */
    uint8_t failed;
    /**
     * The number of repetitions: records of a streak or recurrence, laps of a cycle, or turns; 2 or more.
     */
    uint16_t times;
    /**
     * For a recurrence: the number of records to look at, at most the window.
     */
    uint8_t within;
    /**
     * For a recurrence: the largest number of new calls between the matches; 255 for any number.
     */
    uint8_t novel;
    /**
     * For a cycle: the shortest lap in calls; 2 or more.
     */
    uint8_t period_min;
    /**
     * For a cycle: the longest lap in calls.
     */
    uint8_t period_max;
    /**
     * The effect of progress. 0: a pattern that contains progress is not a loop. 1: progress is ignored.
     * 2: there is no loop while there is progress anywhere in the window.
     */
    uint8_t ignore_progress;
    /**
     * The results of different calls that are evidence. 0: all but silent ones. 1: silent ones, too. 2: only telling
     * ones, which say so much that an equal one is no coincidence.
     */
    uint8_t count_silence;
    /**
     * The strongest action while the latest outcome is silent: one of unstuck_action_t; 0 for the action of
     * the ladder.
     */
    uint8_t silent_max;
    /**
     * Nonzero if the rule needs a proof that another call does not help before it asks for more than a
     * warning. A proof is that the calls fail in the same way, that
     * idempotent calls have equal raw results, or 24 equal results in a row.
     */
    uint8_t force_proven;
    /**
     * For UNSTUCK_TEXT: whether the rule counts equal messages of the user in a row with no call between: 0
     * for no, anything else for yes.
     */
    uint8_t prompts;
    /**
     * Not read.
     */
    uint8_t reserved;
    /**
     * The tool for UNSTUCK_SELECT_TOOL: a number of your own, or the result of unstuck_tool().
     */
    uint32_t tool;
} unstuck_rule_t;

/**
 * The rules of a policy of your own.
 */
typedef struct {
    /**
     * The name of the policy. It must not move or change while the policy is in use.
     */
    const char *name;
    /**
     * The rules in the order of their evaluation: count rules.
     */
    const unstuck_rule_t *rules;
    /**
     * The number of rules: 1 to 16 about calls, and at most 4 about text.
     */
    size_t count;
    /**
     * The tags whose calls are not recorded: bit n is the tag n of unstuck_tag_t.
     */
    uint16_t exempt_tags;
    /**
     * The number of records that the rules look back over, 1 to 64, and at most the detector's window.
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
 * Returns the window of the latest 8 calls. It is too short for the presets, and is meant for policies of
 * your own.
 */
const unstuck_window_t *unstuck_window_8(void);

/**
 * Returns the window of the latest 20 calls. It is long enough for every preset.
 */
const unstuck_window_t *unstuck_window_20(void);

/**
 * Returns the window of the latest 64 calls, for policies of your own.
 */
const unstuck_window_t *unstuck_window_64(void);

/**
 * Returns the full window of the latest 8 calls.
 */
const unstuck_window_t *unstuck_full_window_8(void);

/**
 * Returns the full window of the latest 20 calls.
 */
const unstuck_window_t *unstuck_full_window_20(void);

/**
 * Returns the full window of the latest 64 calls.
 */
const unstuck_window_t *unstuck_full_window_64(void);

/**
 * Returns the size in bytes of a detector of this window in this build, for example at most
 * UNSTUCK_SIZE_20 for unstuck_window_20(). Returns 0 for a pointer that is not a window.
 */
size_t unstuck_sizeof(const unstuck_window_t *window);

/**
 * Returns the alignment of a detector in this build, in bytes. It is at most UNSTUCK_ALIGN.
 */
size_t unstuck_alignof(void);

/**
 * Puts a new detector into storage.
 *
 * storage: size bytes, aligned to UNSTUCK_ALIGN, for example UNSTUCK_SIZE_20 bytes for
 * unstuck_window_20(). It belongs to the detector from now on and must not be moved. There is nothing to
 * free, and the old contents do not matter. window: the number of calls that the detector holds. policy:
 * must not change while the detector is in use. detector: receives the address of the detector, which is
 * the address of storage. Takes the size of the detector on the stack.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_WINDOW,
 * UNSTUCK_NO_POLICY; UNSTUCK_WINDOW if the policy looks back further than the window.
 */
unstuck_status_t unstuck_init(void *storage,
                              size_t size,
                              const unstuck_window_t *window,
                              const unstuck_policy_t *policy,
                              unstuck_t **detector);

/**
 * Announces a call before it runs, and judges it by the rules that need no outcome. A call that continues
 * a loop whose ladder has reached UNSTUCK_BLOCK is blocked.
 *
 * Calls that still wait for an outcome when a later step begins settle as unreported. Errors:
 * UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_VALUE if the tag is not one of unstuck_tag_t.
 */
unstuck_status_t unstuck_announce(unstuck_t *detector,
                                  const unstuck_call_t *call,
                                  unstuck_announced_t *announced);

/**
 * Reports the outcome of a call. Judges every call that settles with it, in the order in which the calls
 * were announced. The verdict is the strongest.
 *
 * An outcome that comes late, twice, or for an exempt call changes nothing. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR, UNSTUCK_NO_CALL.
 */
unstuck_status_t unstuck_outcome(unstuck_t *detector,
                                 const unstuck_call_id_t *call,
                                 const unstuck_outcome_t *outcome,
                                 unstuck_verdict_t *verdict);

/**
 * Reports that a call was blocked and did not run. It still counts as an attempt, and matches any result.
 * The verdict and the errors are the same as for unstuck_outcome().
 */
unstuck_status_t unstuck_vetoed(unstuck_t *detector,
                                const unstuck_call_id_t *call,
                                unstuck_verdict_t *verdict);

/**
 * Withdraws a call that waits for its outcome and will not run, as if it had never been announced. Its
 * sequence number is not reused. The verdict is the strongest on the calls that settle with it. Use
 * unstuck_vetoed() for a call that was refused. The errors are the same as for unstuck_outcome().
 */
unstuck_status_t unstuck_cancel(unstuck_t *detector,
                                const unstuck_call_id_t *call,
                                unstuck_verdict_t *verdict);

/**
 * Reports that no more outcomes will come. Waiting calls settle as unreported. The verdict is the
 * strongest. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_finish(unstuck_t *detector, unstuck_verdict_t *verdict);

/**
 * Reports a turn of the agent without a tool call. text is the digest of its text.
 *
 * laps: the number of equal parts in a row at the end of the text; 0 or 1 if nothing repeats. period: the
 * number of words in each part. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_turn(unstuck_t *detector,
                              uint64_t text,
                              uint8_t period,
                              uint16_t laps,
                              unstuck_verdict_t *verdict);

/**
 * Reports a message of the user. message is its digest. A new message starts everything afresh. A message
 * that was seen before (for example an automatic "please continue") does not. A rule about prompts may
 * find that it comes again and again with no call between. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_user_message(unstuck_t *detector,
                                      uint64_t message,
                                      unstuck_verdict_t *verdict);

/**
 * Writes a short English message for the stuck agent into a buffer of size bytes, like snprintf(): as
 * much as fits, always with a NUL, and only whole UTF-8 characters.
 *
 * verdict: a verdict of this detector since it was initialised or restored. tool: the UTF-8 name of the
 * tool verdict->finding.tool, or NULL if it has no name. The message contains the name and numbers, but
 * neither arguments nor results.
 *
 * Returns the length of the whole message without the NUL. Returns 0 if there is no message: without a
 * finding, without a detector, if a field has a value that no verdict has, or if the name is not UTF-8.
 * The buffer may be NULL if size is 0.
 */
size_t unstuck_nudge(unstuck_t *detector,
                     const unstuck_verdict_t *verdict,
                     const char *tool,
                     char *buffer,
                     size_t size);

/**
 * Returns the default policy, tuned on labelled runs. It finds equal calls with equal results, cycles,
 * failures, waiting and talk, and acts from a nudge to a stop. Window 20.
 */
const unstuck_policy_t *unstuck_balanced(void);

/**
 * Returns a policy that starts over after five equal calls with equal results among the last 20. Window 20.
 */
const unstuck_policy_t *unstuck_start_over(void);

/**
 * Returns a policy that warns, warns again, and stops: after three equal calls among 11, or a cycle of 2
 * to 5 calls run twice. It ignores results. Window 20.
 */
const unstuck_policy_t *unstuck_graduated(void);

/**
 * Returns a slower unstuck_graduated(): five equal calls among 16, or a cycle of 3 to 5 run three times.
 * Window 20.
 */
const unstuck_policy_t *unstuck_graduated_conservative(void);

/**
 * Returns a quicker unstuck_graduated(): two equal calls among 11, or a cycle of 2 to 4 run twice.
 * Window 20.
 */
const unstuck_policy_t *unstuck_graduated_aggressive(void);

/**
 * Returns a policy that nudges early: after three equal calls in a row, four similar ones, three failing
 * test runs or commands, or three turns of talk. It ignores results. Window 10.
 */
const unstuck_policy_t *unstuck_nudge_early(void);

/**
 * Returns a policy that finds two equal calls in a row, or a cycle of 2 or 3 calls run twice. Its action
 * rises with each finding of the same loop. It ignores results. Window 20.
 */
const unstuck_policy_t *unstuck_cycles(void);

/**
 * Returns a policy that stops after three equal calls among the last 20. It ignores results. Window 20.
 */
const unstuck_policy_t *unstuck_repeat(void);

/**
 * Writes the name of a policy into a buffer of size bytes, like snprintf(): as much as fits, always with a
 * NUL, and only whole characters. Returns the length of the name without the NUL, or 0 for a pointer that
 * is not a policy. The buffer may be NULL if size is 0.
 */
size_t unstuck_policy_name(const unstuck_policy_t *policy,
                           char *buffer,
                           size_t size);

/**
 * Writes the name of a rule into a buffer of size bytes, as unstuck_policy_name() does. rule and about_text
 * are the fields of a finding. Returns the length of the name without the NUL, or 0 if there is no such
 * rule.
 */
size_t unstuck_rule_name(const unstuck_policy_t *policy,
                         uint8_t rule,
                         uint8_t about_text,
                         char *buffer,
                         size_t size);

/**
 * Returns the number of calls that a policy looks back over, which is the smallest window for it. Returns 0
 * for a pointer that is not a policy.
 */
uint8_t unstuck_policy_window(const unstuck_policy_t *policy);

/**
 * Makes a policy with the rules of base and with count rules for single tools, in storage of the caller.
 *
 * storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_POLICY_SIZE(count) bytes are enough. It must not
 * change while a detector uses the policy. Neither must base and its storage, because its rules are not
 * copied. Rules of base for single tools do not apply. rules may be freed afterwards. policy: receives the
 * address of the policy, which is the address of storage.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_POLICY;
 * UNSTUCK_RULES if there are more than 64 rules, or two for one tool. After an error storage may hold
 * anything.
 */
unstuck_status_t unstuck_policy_with_tools(void *storage,
                                           size_t size,
                                           const unstuck_policy_t *base,
                                           const unstuck_tool_rule_t *rules,
                                           size_t count,
                                           const unstuck_policy_t **policy);

/**
 * Forgets all calls, turns, scores and loops, because a new run begins. Sequence numbers continue, and
 * user messages, feedback and statistics stay. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_clear(unstuck_t *detector);

/**
 * Reports progress that no result shows. It belongs to the oldest call that waits, or else to the next
 * one. Report it before the outcome of the call that made the progress. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_progress(unstuck_t *detector);

/**
 * Takes the latest calls back, because the provider of the model failed and sends them again. Their
 * sequence numbers are given again.
 *
 * taken: receives the number of calls that were taken back. Calls that have left the window stay. Errors:
 * UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_retry(unstuck_t *detector,
                               size_t calls,
                               size_t *taken);

/**
 * Reports that the finding of verdict was wrong. From now on its rule needs one more repetition of calls
 * of that tool, and makes no finding of the same kind about that loop.
 *
 * verdict: a verdict of this detector since it was initialised or restored. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR, UNSTUCK_NO_FINDING; UNSTUCK_VALUE if a field has a value that no verdict has.
 */
unstuck_status_t unstuck_false_positive(unstuck_t *detector,
                                        const unstuck_verdict_t *verdict);

/**
 * Reports that loop_id is not a loop. The detector does not find it again while it is among the eight
 * loops that were silenced last. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_silence(unstuck_t *detector,
                                 uint64_t loop_id);

/**
 * Writes the detector's counts since it was created to statistics. Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_statistics(unstuck_t *detector, unstuck_statistics_t *statistics);

/**
 * Writes the verdict that an announcement of call would get now to verdict. The detector does not change.
 * Takes the size of the detector on the stack.
 *
 * Errors: the errors of unstuck_announce(), and UNSTUCK_NOT_FULL if the detector's window is not a full
 * one.
 */
unstuck_status_t unstuck_peek(unstuck_t *detector,
                              const unstuck_call_t *call,
                              unstuck_verdict_t *verdict);

/**
 * Writes the rule that is nearest to a finding to nearness, by its share of the calls that a finding
 * needs. From two thirds on it is useful as an early warning. Writes zeros if there was no call yet.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_NOT_FULL if the detector's window is not a full one.
 */
unstuck_status_t unstuck_nearest(unstuck_t *detector,
                                 unstuck_nearness_t *nearness);

/**
 * Puts an empty set of similar calls into storage of size bytes, aligned to UNSTUCK_ALIGN.
 * UNSTUCK_SIMILAR_SIZE bytes are enough. Also empties an existing set, for example when a new run begins.
 *
 * similar: receives the address of the set, which is the address of storage. Errors: UNSTUCK_NULL,
 * UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED.
 */
unstuck_status_t unstuck_similar_init(void *storage,
                                      size_t size,
                                      unstuck_similar_t **similar);

/**
 * Announces a call of tool with the arguments args, length bytes of JSON. Arguments that are not JSON are
 * compared as bytes. Like unstuck_announce(), with digests and a tag made from the arguments.
 *
 * similar: finds calls with similar words. With NULL only equal calls are similar, unless the policy's
 * recipe says otherwise. tool: UTF-8. step: the step, or NULL for a step of its own; calls that the agent
 * issued together share a step. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR, UNSTUCK_NO_SIMILAR;
 * UNSTUCK_NOT_UTF8 for the name of the tool.
 */
unstuck_status_t unstuck_announce_json(unstuck_t *detector,
                                       unstuck_similar_t *similar,
                                       const char *tool,
                                       const char *args,
                                       size_t length,
                                       const uint64_t *step,
                                       unstuck_announced_t *announced);

/**
 * Reports the result of call, length bytes of text that tool returned. Like unstuck_outcome(), with
 * digests made from the text.
 *
 * failed: nonzero if the host knows that the call failed. The default policy
 * also reads failures and the number of failing tests from results, except of tools that read or write.
 * A text that is not UTF-8 is compared as bytes. Errors: the errors of unstuck_outcome(), and
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
 * Reports a turn of the agent without a tool call, with length bytes of text. Like unstuck_turn(). Errors:
 * UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_turn_text(unstuck_t *detector,
                                   const char *text,
                                   size_t length,
                                   unstuck_verdict_t *verdict);

/**
 * Reports a message of the user, length bytes of text. Like unstuck_user_message(). Errors: UNSTUCK_NULL,
 * UNSTUCK_NO_DETECTOR.
 */
unstuck_status_t unstuck_user_message_text(unstuck_t *detector,
                                           const char *text,
                                           size_t length,
                                           unstuck_verdict_t *verdict);

/**
 * Returns a number for the tool with this UTF-8 name: 32 bits of a hash. With ten tools, two share a
 * number with a probability of one in a hundred million. Numbers of your own work as well. Returns 0 for
 * NULL and for a name that is not UTF-8.
 */
uint32_t unstuck_tool(const char *name);

/**
 * Returns the digest of length bytes by 64-bit FNV-1a and an avalanche. Equal bytes have equal digests. An
 * attacker who chooses the bytes can make two digests collide. For NULL it returns the digest of no bytes.
 */
uint64_t unstuck_digest(const char *bytes,
                        size_t length);

/**
 * Returns the digest of two digests in this order.
 */
uint64_t unstuck_mix(uint64_t first, uint64_t second);

/**
 * Writes the fingerprint of one JSON value of length bytes to digest. It does not depend on the order of
 * members, white space, or the spelling of numbers and strings.
 *
 * Takes about 2 KiB of stack. Errors: UNSTUCK_NULL; UNSTUCK_NOT_JSON, also for bytes that are not UTF-8 and
 * for more than 128 levels of nesting.
 */
unstuck_status_t unstuck_json_fingerprint(const char *json,
                                          size_t length,
                                          uint64_t *digest);

/**
 * Writes the digests of a result of length bytes, for unstuck_outcome_t. result leaves out volatile text
 * (clock times, durations, ids, addresses, temporary paths, colours), and near_result also all numbers.
 *
 * Any bytes may be given. Errors: UNSTUCK_NULL.
 */
unstuck_status_t unstuck_text_digest(const char *text,
                                     size_t length,
                                     uint64_t *result,
                                     uint64_t *near_result);

/**
 * Returns 1 if a result of length bytes only says that the call returned ("", "ok", "{}"), for
 * unstuck_outcome_t. Otherwise returns 0, also for NULL with a length and for bytes that are not UTF-8.
 */
uint8_t unstuck_text_is_silent(const char *text,
                               size_t length);

/**
 * Writes the whole state of a detector except its policy into a buffer of size bytes, for
 * unstuck_restore() after a reset.
 *
 * length: receives the number of bytes that were written, for example at most UNSTUCK_CHECKPOINT_20 for a
 * window of 20. Takes some KiB of stack. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR, UNSTUCK_BUFFER_SHORT;
 * UNSTUCK_NOT_FULL if the detector's window is not a full one. After an error the buffer may hold
 * anything.
 */
unstuck_status_t unstuck_save(unstuck_t *detector,
                              char *buffer,
                              size_t size,
                              size_t *length);

/**
 * Puts the detector into storage that unstuck_save() wrote, to continue as if nothing had happened.
 * Storage, policy and detector are the same as for unstuck_init(). The window is a full one, of
 * the same or another number of calls.
 *
 * checkpoint: length bytes; any bytes may be given. Ids of calls from before the save stay valid, and
 * verdicts do not. Takes some KiB of stack. Errors: the errors of unstuck_init(), UNSTUCK_NOT_FULL,
 * UNSTUCK_CHECKPOINT_DAMAGED, UNSTUCK_CHECKPOINT_VERSION, UNSTUCK_CHECKPOINT_POLICY. After an error the
 * storage is unchanged.
 */
unstuck_status_t unstuck_restore(void *storage,
                                 size_t size,
                                 const unstuck_window_t *window,
                                 const unstuck_policy_t *policy,
                                 const char *checkpoint,
                                 size_t length,
                                 unstuck_t **detector);

/**
 * Makes a policy from rules of your own, in storage of the caller. Its digests are made as for
 * unstuck_balanced().
 *
 * storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_RULES_SIZE(rules, rungs) bytes are enough for that
 * many rules with that many rungs in all. It must not change while a detector uses the policy. rules and
 * everything that it points at may be freed afterwards, except the names. policy: receives the address of
 * the policy, which is the address of storage.
 *
 * Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NOT_UTF8; UNSTUCK_VALUE
 * for a number outside its enumeration; UNSTUCK_RULES for rules that cannot work. After an error storage
 * may hold anything.
 */
unstuck_status_t unstuck_policy_of_rules(void *storage,
                                         size_t size,
                                         const unstuck_rules_t *rules,
                                         const unstuck_policy_t **policy);

/**
 * Returns the meaning of a status in English, for a log. Do not free it. Returns NULL for a number outside
 * unstuck_status_t.
 */
const char *unstuck_status_message(int32_t status);

/**
 * Returns the name of an action: "proceed", "nudge", "warn", "block", "start_over", "stop".
 * Do not free it. Returns NULL for a number outside unstuck_action_t.
 */
const char *unstuck_action_name(uint8_t action);

/**
 * Returns the name of a kind: "streak", "recurrence", "cycle", "text", "echo".
 * Do not free it. Returns NULL for a number outside unstuck_kind_t.
 */
const char *unstuck_kind_name(uint8_t kind);

/**
 * Returns the name of a tag: "other", "test", "shell", "read", "write", "search", "poll", "think",
 * "finish", "start_over", "act".
 * Do not free it. Returns NULL for a number outside unstuck_tag_t.
 */
const char *unstuck_tag_name(uint8_t tag);

/**
 * Returns the version of the library that the program runs with, for example "0.1.0". Do not free it.
 */
const char *unstuck_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* UNSTUCK_H */
