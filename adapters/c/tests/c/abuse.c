/* Misuse of the library. Every misuse must give a status. */

#include "unstuck.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

static int failures;

#define IS(expected, call) is((expected), (call), #call)

static void is(unstuck_status_t expected, unstuck_status_t status, const char *call) {
    if (status != expected) {
        printf("%s gives %d, and should give %d\n", call, (int)status, (int)expected);
        failures++;
    }
}

#define HOLDS(what) holds((what), #what)

static void holds(int is_so, const char *what) {
    if (!is_so) {
        printf("%s does not hold\n", what);
        failures++;
    }
}

static alignas(UNSTUCK_ALIGN) unsigned char storage[UNSTUCK_SIZE_64 + 16];
static alignas(UNSTUCK_ALIGN) unsigned char other[UNSTUCK_SIZE_64 + 16];
static unstuck_call_t call;
static unstuck_outcome_t outcome;
static unstuck_call_id_t id;
static unstuck_announced_t announced;
static unstuck_verdict_t verdict;
static unstuck_nearness_t nearness;
static unstuck_statistics_t statistics;

/* Calls every function of a detector. full is the status of functions that need a full window. */
static void call_all(unstuck_status_t expected, unstuck_status_t full, unstuck_t *detector) {
    size_t size = 0;
    char buffer[UNSTUCK_CHECKPOINT_64];
    IS(expected, unstuck_announce(detector, &call, &announced));
    IS(expected, unstuck_announce_json(detector, NULL, "t", "{}", 2, NULL, &announced));
    IS(expected, unstuck_outcome(detector, &id, &outcome, &verdict));
    IS(expected, unstuck_outcome_text(detector, &id, "t", "x", 1, 0, &verdict));
    IS(expected, unstuck_vetoed(detector, &id, &verdict));
    IS(expected, unstuck_cancel(detector, &id, &verdict));
    IS(expected, unstuck_finish(detector, &verdict));
    IS(expected, unstuck_turn(detector, 1, 0, 0, &verdict));
    IS(expected, unstuck_turn_text(detector, "x", 1, &verdict));
    IS(expected, unstuck_user_message(detector, 1, &verdict));
    IS(expected, unstuck_user_message_text(detector, "x", 1, &verdict));
    IS(full, unstuck_peek(detector, &call, &verdict));
    IS(expected, unstuck_clear(detector));
    IS(expected, unstuck_progress(detector));
    IS(expected, unstuck_retry(detector, 1, &size));
    IS(expected, unstuck_false_positive(detector, &verdict));
    IS(expected, unstuck_silence(detector, 1));
    IS(full, unstuck_nearest(detector, &nearness));
    IS(expected, unstuck_statistics(detector, &statistics));
    IS(full, unstuck_save(detector, buffer, sizeof buffer, &size));
    HOLDS(unstuck_nudge(detector, &verdict, "t", buffer, sizeof buffer) == 0);
}

/* A detector with a full window. */
static unstuck_t *begun(void) {
    unstuck_t *detector = NULL;
    IS(UNSTUCK_OK, unstuck_init(storage, UNSTUCK_SIZE_20, unstuck_full_window_20(), unstuck_balanced(),
                                &detector));
    HOLDS((void *)detector == (void *)storage);
    return detector;
}

/* NULL for every pointer. */
static void null_everywhere(void) {
    const unstuck_window_t *window = unstuck_window_20();
    unstuck_t *detector = begun();
    unstuck_similar_t *similar = NULL;
    const unstuck_policy_t *policy = unstuck_balanced();
    size_t size = 0;
    uint64_t digest = 0;
    char buffer[8];
    call_all(UNSTUCK_NULL, UNSTUCK_NULL, NULL);
    IS(UNSTUCK_NULL, unstuck_init(NULL, UNSTUCK_SIZE_20, window, policy, &detector));
    IS(UNSTUCK_NULL, unstuck_init(other, sizeof other, NULL, policy, &detector));
    IS(UNSTUCK_NULL, unstuck_init(other, sizeof other, window, NULL, &detector));
    IS(UNSTUCK_NULL, unstuck_init(other, sizeof other, window, policy, NULL));
    IS(UNSTUCK_NULL, unstuck_announce(detector, NULL, &announced));
    IS(UNSTUCK_NULL, unstuck_announce(detector, &call, NULL));
    IS(UNSTUCK_NULL, unstuck_announce_json(detector, NULL, NULL, "{}", 2, NULL, &announced));
    IS(UNSTUCK_NULL, unstuck_announce_json(detector, NULL, "t", NULL, 2, NULL, &announced));
    IS(UNSTUCK_NULL, unstuck_announce_json(detector, NULL, "t", "{}", 2, NULL, NULL));
    IS(UNSTUCK_OK, unstuck_announce_json(detector, NULL, "t", NULL, 0, NULL, &announced));
    IS(UNSTUCK_NULL, unstuck_outcome(detector, NULL, &outcome, &verdict));
    IS(UNSTUCK_NULL, unstuck_outcome(detector, &id, NULL, &verdict));
    IS(UNSTUCK_NULL, unstuck_outcome(detector, &id, &outcome, NULL));
    IS(UNSTUCK_NULL, unstuck_outcome_text(detector, NULL, "t", "x", 1, 0, &verdict));
    IS(UNSTUCK_NULL, unstuck_outcome_text(detector, &id, NULL, "x", 1, 0, &verdict));
    IS(UNSTUCK_NULL, unstuck_outcome_text(detector, &id, "t", NULL, 1, 0, &verdict));
    IS(UNSTUCK_NULL, unstuck_vetoed(detector, NULL, &verdict));
    IS(UNSTUCK_NULL, unstuck_vetoed(detector, &id, NULL));
    IS(UNSTUCK_NULL, unstuck_cancel(detector, NULL, &verdict));
    IS(UNSTUCK_NULL, unstuck_finish(detector, NULL));
    IS(UNSTUCK_NULL, unstuck_turn(detector, 1, 0, 0, NULL));
    IS(UNSTUCK_NULL, unstuck_turn_text(detector, NULL, 1, &verdict));
    IS(UNSTUCK_NULL, unstuck_user_message(detector, 1, NULL));
    IS(UNSTUCK_NULL, unstuck_user_message_text(detector, NULL, 1, &verdict));
    IS(UNSTUCK_NULL, unstuck_peek(detector, NULL, &verdict));
    IS(UNSTUCK_NULL, unstuck_retry(detector, 1, NULL));
    IS(UNSTUCK_NULL, unstuck_false_positive(detector, NULL));
    IS(UNSTUCK_NULL, unstuck_nearest(detector, NULL));
    IS(UNSTUCK_NULL, unstuck_statistics(detector, NULL));
    IS(UNSTUCK_NULL, unstuck_save(detector, NULL, 99, &size));
    IS(UNSTUCK_NULL, unstuck_save(detector, buffer, sizeof buffer, NULL));
    IS(UNSTUCK_NULL, unstuck_restore(other, sizeof other, unstuck_full_window_20(), policy, NULL, 9, &detector));
    IS(UNSTUCK_NULL, unstuck_similar_init(NULL, 0, &similar));
    IS(UNSTUCK_NULL, unstuck_similar_init(other, sizeof other, NULL));
    IS(UNSTUCK_NULL, unstuck_json_fingerprint(NULL, 1, &digest));
    IS(UNSTUCK_NULL, unstuck_json_fingerprint("{}", 2, NULL));
    IS(UNSTUCK_NULL, unstuck_text_digest(NULL, 1, &digest, &digest));
    IS(UNSTUCK_NULL, unstuck_text_digest("x", 1, NULL, &digest));
    HOLDS(unstuck_tool(NULL) == 0);
    HOLDS(unstuck_digest(NULL, 9) == unstuck_digest("", 0));
    HOLDS(unstuck_policy_window(NULL) == 0);
    HOLDS(unstuck_policy_name(NULL, buffer, sizeof buffer) == 0);
    HOLDS(unstuck_policy_name(policy, NULL, 0) == strlen("balanced"));
    HOLDS(unstuck_policy_name(policy, NULL, 9) == 0);
    HOLDS(unstuck_rule_name(NULL, 0, 0, buffer, sizeof buffer) == 0);
}

/* Storage that is too short, misaligned, or holds something else. */
static void storage_of_all_kinds(void) {
    const unstuck_window_t *window = unstuck_window_20();
    unstuck_t *detector = NULL;
    unstuck_similar_t *similar = NULL;
    const unstuck_policy_t *policy = unstuck_balanced();
    for (size_t size = 0; size < unstuck_sizeof(window); size += 7) {
        IS(UNSTUCK_STORAGE_SHORT, unstuck_init(other, size, window, policy, &detector));
    }
    IS(UNSTUCK_OK, unstuck_init(other, unstuck_sizeof(window), window, policy, &detector));
    for (size_t askew = 1; askew < unstuck_alignof(); askew++) {
        IS(UNSTUCK_STORAGE_MISALIGNED,
           unstuck_init(other + askew, UNSTUCK_SIZE_20, window, policy, &detector));
        IS(UNSTUCK_NO_DETECTOR, unstuck_clear((unstuck_t *)(void *)(other + askew)));
    }
    for (int byte = 0; byte < 256; byte++) {
        memset(other, byte, sizeof other);
        call_all(UNSTUCK_NO_DETECTOR, UNSTUCK_NO_DETECTOR, (unstuck_t *)(void *)other);
        IS(UNSTUCK_NO_POLICY, unstuck_init(storage, sizeof storage, window,
                                           (const unstuck_policy_t *)(void *)other, &detector));
        const unstuck_window_t *no_window = (const unstuck_window_t *)(void *)other;
        IS(UNSTUCK_NO_WINDOW,
           unstuck_init(storage, sizeof storage, no_window, policy, &detector));
        IS(UNSTUCK_NO_WINDOW, unstuck_restore(storage, sizeof storage, no_window, policy, "", 0,
                                              &detector));
        HOLDS(unstuck_sizeof(no_window) == 0);
        IS(UNSTUCK_NO_SIMILAR,
           unstuck_announce_json(begun(), (unstuck_similar_t *)(void *)other, "t", "{}", 2, NULL,
                                 &announced));
    }
    /* Moved. */
    memcpy(other, begun(), UNSTUCK_SIZE_20);
    call_all(UNSTUCK_NO_DETECTOR, UNSTUCK_NO_DETECTOR, (unstuck_t *)(void *)other);
    /* A window that is not full cannot peek, save or restore. */
    char buffer[UNSTUCK_CHECKPOINT_64];
    size_t length = 0;
    IS(UNSTUCK_OK, unstuck_init(other, sizeof other, window, policy, &detector));
    IS(UNSTUCK_NOT_FULL, unstuck_peek(detector, &call, &verdict));
    IS(UNSTUCK_NOT_FULL, unstuck_nearest(detector, &nearness));
    IS(UNSTUCK_NOT_FULL, unstuck_save(detector, buffer, sizeof buffer, &length));
    IS(UNSTUCK_OK, unstuck_save(begun(), buffer, sizeof buffer, &length));
    IS(UNSTUCK_NOT_FULL,
       unstuck_restore(other, sizeof other, window, policy, buffer, length, &detector));
    /* A checkpoint can be restored to a longer window, but not to one that is too short. */
    IS(UNSTUCK_OK, unstuck_restore(other, sizeof other, unstuck_full_window_64(), policy, buffer,
                                   length, &detector));
    IS(UNSTUCK_WINDOW, unstuck_restore(other, sizeof other, unstuck_full_window_8(), policy, buffer,
                                       length, &detector));
    IS(UNSTUCK_WINDOW, unstuck_init(other, sizeof other, unstuck_window_8(), policy, &detector));
    IS(UNSTUCK_WINDOW,
       unstuck_init(other, sizeof other, unstuck_full_window_8(), policy, &detector));
    IS(UNSTUCK_OK, unstuck_init(other, sizeof other, unstuck_window_64(), policy, &detector));
    IS(UNSTUCK_OK, unstuck_init(other, sizeof other, unstuck_full_window_64(), policy, &detector));
    IS(UNSTUCK_OK, unstuck_peek(detector, &call, &verdict));
    IS(UNSTUCK_OK, unstuck_nearest(detector, &nearness));
    IS(UNSTUCK_OK, unstuck_save(detector, buffer, sizeof buffer, &length));
    IS(UNSTUCK_STORAGE_SHORT, unstuck_similar_init(other, 64, &similar));
    HOLDS(unstuck_sizeof(unstuck_window_8()) <= UNSTUCK_SIZE_8);
    HOLDS(unstuck_sizeof(unstuck_full_window_8()) <= UNSTUCK_SIZE_8);
    HOLDS(unstuck_sizeof(window) <= UNSTUCK_SIZE_20 && unstuck_sizeof(NULL) == 0);
    HOLDS(unstuck_sizeof(unstuck_full_window_64()) <= UNSTUCK_SIZE_64);
    HOLDS(unstuck_alignof() <= UNSTUCK_ALIGN);
}

/* Numbers outside their enumeration. */
static void numbers_out_of_range(void) {
    unstuck_t *detector = begun();
    for (unsigned tag = 11; tag < 256; tag++) {
        call.tag = (uint8_t)tag;
        IS(UNSTUCK_VALUE, unstuck_announce(detector, &call, &announced));
        HOLDS(unstuck_tag_name((uint8_t)tag) == NULL && unstuck_action_name((uint8_t)tag) == NULL);
    }
    call.tag = 0;
    unstuck_call_id_t wrong;
    memset(&wrong, 0xff, sizeof wrong);
    IS(UNSTUCK_NO_CALL, unstuck_outcome(detector, &wrong, &outcome, &verdict));
    HOLDS(unstuck_status_message(-1) == NULL && unstuck_status_message(99) == NULL);
    /* A verdict without a finding, then an overwritten one. */
    IS(UNSTUCK_OK, unstuck_finish(detector, &verdict));
    IS(UNSTUCK_NO_FINDING, unstuck_false_positive(detector, &verdict));
    for (int round = 0; round < 3; round++) {
        IS(UNSTUCK_OK, unstuck_announce(detector, &call, &announced));
        IS(UNSTUCK_OK, unstuck_outcome(detector, &announced.call, &outcome, &verdict));
    }
    HOLDS(verdict.has_finding == 1 && verdict.action == UNSTUCK_NUDGE);
    IS(UNSTUCK_OK, unstuck_nearest(detector, &nearness));
    HOLDS(nearness.held == 3 && nearness.needed == 3 && nearness.rule == 0);
    IS(UNSTUCK_OK, unstuck_statistics(detector, &statistics));
    HOLDS(statistics.checks == 3 && statistics.findings[UNSTUCK_STREAK] == 1);
    HOLDS(statistics.actions[UNSTUCK_NUDGE] == 1 && statistics.false_positives == 0);
    char buffer[UNSTUCK_NUDGE_MAX];
    HOLDS(unstuck_nudge(detector, &verdict, "\xff", buffer, sizeof buffer) == 0);
    unstuck_verdict_t scribbled;
    for (size_t place = 0; place < sizeof scribbled; place++) {
        scribbled = verdict;
        ((unsigned char *)&scribbled)[place] ^= 0xff;
        (void)unstuck_nudge(detector, &scribbled, "t", buffer, sizeof buffer);
        (void)unstuck_false_positive(detector, &scribbled);
    }
    scribbled = verdict;
    memset(&scribbled.finding.kind, 99, 1);
    IS(UNSTUCK_VALUE, unstuck_false_positive(detector, &scribbled));
    unsigned rules = 0;
    while (rules < 32 && unstuck_rule_name(unstuck_balanced(), (uint8_t)rules, 0, NULL, 0) != 0) {
        rules++;
    }
    HOLDS(rules > verdict.finding.rule && rules < 32);
    for (unsigned rule = rules; rule < 256; rule++) {
        scribbled = verdict;
        scribbled.finding.rule = (uint8_t)rule;
        IS(UNSTUCK_VALUE, unstuck_false_positive(detector, &scribbled));
        HOLDS(unstuck_nudge(detector, &scribbled, "t", buffer, sizeof buffer) == 0);
    }
    /* After all of this feedback it can be saved and restored. */
    char checkpoint[UNSTUCK_CHECKPOINT_20];
    size_t length = 0;
    unstuck_t *restored = NULL;
    IS(UNSTUCK_OK, unstuck_save(detector, checkpoint, sizeof checkpoint, &length));
    IS(UNSTUCK_OK, unstuck_restore(other, sizeof other, unstuck_full_window_20(), unstuck_balanced(), checkpoint, length,
                                      &restored));
}

/* A nudge in a buffer of every size. */
static void short_buffers(void) {
    unstuck_t *detector = begun();
    for (int round = 0; round < 3; round++) {
        IS(UNSTUCK_OK, unstuck_announce(detector, &call, &announced));
        IS(UNSTUCK_OK, unstuck_outcome(detector, &announced.call, &outcome, &verdict));
    }
    char whole[UNSTUCK_NUDGE_MAX], buffer[UNSTUCK_NUDGE_MAX];
    const char *tool = "gr\xc3\xbc\xc3\x9f \xf0\x9f\xa4\x96";
    size_t length = unstuck_nudge(detector, &verdict, tool, whole, sizeof whole);
    HOLDS(length == strlen(whole) && strstr(whole, tool) != NULL);
    HOLDS(unstuck_nudge(detector, &verdict, tool, NULL, 0) == length);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(buffer, '#', sizeof buffer);
        HOLDS(unstuck_nudge(detector, &verdict, tool, buffer, size) == length);
        size_t written = strlen(buffer);
        HOLDS(written < size && size - written <= 4 && buffer[size] == '#');
        HOLDS(strncmp(buffer, whole, written) == 0);
        HOLDS((whole[written] & 0xc0) != 0x80);
    }
    size_t needed = 0;
    char checkpoint[UNSTUCK_CHECKPOINT_20];
    IS(UNSTUCK_OK, unstuck_save(detector, checkpoint, sizeof checkpoint, &needed));
    for (size_t size = 0; size < needed; size++) {
        IS(UNSTUCK_BUFFER_SHORT, unstuck_save(detector, checkpoint, size, &length));
    }
    IS(UNSTUCK_OK, unstuck_save(detector, checkpoint, needed, &length));
}

/* A checkpoint that was cut short, or with a flipped bit. */
static void damaged_checkpoints(void) {
    unstuck_t *detector = begun(), *restored = NULL;
    for (int round = 0; round < 9; round++) {
        IS(UNSTUCK_OK, unstuck_announce(detector, &call, &announced));
        IS(UNSTUCK_OK, unstuck_outcome(detector, &announced.call, &outcome, &verdict));
    }
    char checkpoint[UNSTUCK_CHECKPOINT_20];
    size_t length = 0;
    const unstuck_policy_t *policy = unstuck_balanced();
    IS(UNSTUCK_OK, unstuck_save(detector, checkpoint, sizeof checkpoint, &length));
    IS(UNSTUCK_CHECKPOINT_POLICY, unstuck_restore(other, sizeof other, unstuck_full_window_20(), unstuck_repeat(),
                                                     checkpoint, length, &restored));
    for (size_t cut = 0; cut < length; cut++) {
        IS(UNSTUCK_CHECKPOINT_DAMAGED,
           unstuck_restore(other, sizeof other, unstuck_full_window_20(), policy, checkpoint, cut, &restored));
    }
    for (size_t bit = 8; bit < 8 * length; bit++) {
        checkpoint[bit / 8] ^= (char)(1 << bit % 8);
        IS(UNSTUCK_CHECKPOINT_DAMAGED,
           unstuck_restore(other, sizeof other, unstuck_full_window_20(), policy, checkpoint, length, &restored));
        checkpoint[bit / 8] ^= (char)(1 << bit % 8);
    }
    checkpoint[0] ^= 1;
    IS(UNSTUCK_CHECKPOINT_VERSION,
       unstuck_restore(other, sizeof other, unstuck_full_window_20(), policy, checkpoint, length, &restored));
    checkpoint[0] ^= 1;
    IS(UNSTUCK_STORAGE_SHORT, unstuck_restore(other, 99, unstuck_full_window_20(), policy, checkpoint, length, &restored));
    IS(UNSTUCK_OK, unstuck_restore(other, sizeof other, unstuck_full_window_20(), policy, checkpoint, length, &restored));
    /* It continues and knows the earlier calls. This storage has no finding yet. */
    IS(UNSTUCK_NO_FINDING, unstuck_false_positive(restored, &verdict));
    IS(UNSTUCK_OK, unstuck_outcome(restored, &announced.call, &outcome, &verdict));
}

/* Bytes that are not UTF-8 or not JSON. */
static void bytes_of_all_kinds(void) {
    unstuck_t *detector = begun();
    uint64_t one = 0, two = 0;
    char all[256];
    for (int byte = 0; byte < 256; byte++) {
        all[byte] = (char)byte;
    }
    IS(UNSTUCK_NOT_JSON, unstuck_json_fingerprint(all, sizeof all, &one));
    IS(UNSTUCK_NOT_JSON, unstuck_json_fingerprint("", 0, &one));
    IS(UNSTUCK_NOT_JSON, unstuck_json_fingerprint("{\"a\":1}", 6, &one));
    IS(UNSTUCK_OK, unstuck_json_fingerprint("{\"a\":1, \"b\":2}", 14, &one));
    IS(UNSTUCK_OK, unstuck_json_fingerprint("{\"b\":2e0,\"a\":1.0}", 17, &two));
    HOLDS(one == two && one != 0);
    IS(UNSTUCK_OK, unstuck_text_digest(all, sizeof all, &one, &two));
    IS(UNSTUCK_OK, unstuck_text_digest("done at 12:03:59", 16, &one, &two));
    uint64_t later = 0;
    IS(UNSTUCK_OK, unstuck_text_digest("done at 13:00:00", 16, &later, &two));
    HOLDS(one == later);
    HOLDS(unstuck_text_is_silent("ok", 2) == 1 && unstuck_text_is_silent("", 0) == 1);
    HOLDS(unstuck_text_is_silent("no", 2) == 0 && unstuck_text_is_silent(NULL, 2) == 0);
    HOLDS(unstuck_text_is_silent(all, sizeof all) == 0);
    for (int round = 0; round < 3; round++) {
        IS(UNSTUCK_OK,
           unstuck_announce_json(detector, NULL, "t", all, sizeof all, NULL, &announced));
        IS(UNSTUCK_OK,
           unstuck_outcome_text(detector, &announced.call, "t", all, sizeof all, 1, &verdict));
    }
    HOLDS(verdict.action == UNSTUCK_NUDGE && verdict.finding.failed == 1);
    IS(UNSTUCK_OK, unstuck_turn_text(detector, all, sizeof all, &verdict));
    IS(UNSTUCK_OK, unstuck_user_message_text(detector, all, sizeof all, &verdict));
    IS(UNSTUCK_NOT_UTF8,
       unstuck_announce_json(detector, NULL, "\xff", "{}", 2, NULL, &announced));
}

/* Rules for single tools: an exempt one, a patient one, and too many. */
static void rules_for_tools(void) {
    static alignas(UNSTUCK_ALIGN) unsigned char room[UNSTUCK_POLICY_SIZE(64)];
    unstuck_tool_rule_t rules[65] = {{0}};
    for (uint32_t place = 0; place < 65; place++) {
        rules[place].tool = place;
    }
    rules[1].exempt = 1;
    rules[2].patience = 2;
    const unstuck_policy_t *policy = NULL, *base = unstuck_balanced();
    IS(UNSTUCK_NULL, unstuck_policy_with_tools(NULL, 0, base, rules, 3, &policy));
    IS(UNSTUCK_NULL, unstuck_policy_with_tools(room, sizeof room, NULL, rules, 3, &policy));
    IS(UNSTUCK_NULL, unstuck_policy_with_tools(room, sizeof room, base, NULL, 3, &policy));
    IS(UNSTUCK_NULL, unstuck_policy_with_tools(room, sizeof room, base, rules, 3, NULL));
    IS(UNSTUCK_RULES, unstuck_policy_with_tools(room, sizeof room, base, rules, 65, &policy));
    IS(UNSTUCK_RULES,
       unstuck_policy_with_tools(room, sizeof room, base, rules, SIZE_MAX, &policy));
    rules[3].tool = 2;
    IS(UNSTUCK_RULES, unstuck_policy_with_tools(room, sizeof room, base, rules, 4, &policy));
    IS(UNSTUCK_STORAGE_MISALIGNED,
       unstuck_policy_with_tools(room + 1, sizeof room - 1, base, rules, 3, &policy));
    IS(UNSTUCK_STORAGE_SHORT, unstuck_policy_with_tools(room, 24, base, rules, 3, &policy));
    IS(UNSTUCK_OK,
       unstuck_policy_with_tools(room, UNSTUCK_POLICY_SIZE(3), base, rules, 3, &policy));
    unstuck_t *detector = NULL;
    IS(UNSTUCK_OK, unstuck_init(storage, sizeof storage, unstuck_window_20(), policy, &detector));
    for (uint32_t tool = 0; tool < 3; tool++) {
        int first = 0;
        for (int round = 1; round < 9; round++) {
            call.tool = tool;
            IS(UNSTUCK_OK, unstuck_announce(detector, &call, &announced));
            IS(UNSTUCK_OK, unstuck_outcome(detector, &announced.call, &outcome, &verdict));
            HOLDS(announced.recorded == (tool != 1));
            first = first == 0 && verdict.action != UNSTUCK_PROCEED ? round : first;
        }
        HOLDS(first == (tool == 0 ? 3 : tool == 1 ? 0 : 5));
    }
    call.tool = 0;
}

/* Rules of the caller in a window of 8. Rules that cannot work are refused. */
static void rules_of_ones_own(void) {
    static alignas(UNSTUCK_ALIGN) unsigned char room[UNSTUCK_RULES_SIZE(2, 3)];
    const unstuck_rung_t rungs[2] = {{2, UNSTUCK_WARN, 0}, {4, UNSTUCK_STOP, 0}};
    unstuck_rule_t rule[2] = {{0}};
    rule[0].name = "twice";
    rule[0].rungs = rungs;
    rule[0].rung_count = 2;
    rule[0].times = 2;
    rule[1].name = "talk";
    rule[1].kind = UNSTUCK_TEXT;
    rule[1].args = UNSTUCK_ARGS_ANY;
    rule[1].rungs = rungs;
    rule[1].rung_count = 1;
    rule[1].times = 2;
    unstuck_rules_t rules = {0};
    rules.name = "small";
    rules.rules = rule;
    rules.count = 2;
    rules.window = 8;
    const unstuck_policy_t *policy = NULL;
    IS(UNSTUCK_NULL, unstuck_policy_of_rules(NULL, 0, &rules, &policy));
    IS(UNSTUCK_NULL, unstuck_policy_of_rules(room, sizeof room, NULL, &policy));
    IS(UNSTUCK_NULL, unstuck_policy_of_rules(room, sizeof room, &rules, NULL));
    IS(UNSTUCK_STORAGE_MISALIGNED,
       unstuck_policy_of_rules(room + 1, sizeof room - 1, &rules, &policy));
    IS(UNSTUCK_STORAGE_SHORT, unstuck_policy_of_rules(room, 64, &rules, &policy));
    rules.count = 21;
    IS(UNSTUCK_RULES, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rules.count = 0;
    IS(UNSTUCK_RULES, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rules.count = 2;
    rules.exempt_tags = 1u << 15;
    IS(UNSTUCK_VALUE, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rules.exempt_tags = 0;
    rules.name = NULL;
    IS(UNSTUCK_NULL, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rules.name = "\xff";
    IS(UNSTUCK_NOT_UTF8, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rules.name = "small";
    rules.rules = NULL;
    IS(UNSTUCK_NULL, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rules.rules = rule;
    rule[0].rungs = NULL;
    IS(UNSTUCK_NULL, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rule[0].rungs = rungs;
    rule[0].rung_count = 255;
    IS(UNSTUCK_RULES, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rule[0].rung_count = 2;
    rule[0].times = 1;
    IS(UNSTUCK_RULES, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
    rule[0].times = 2;
    uint8_t *const numbers[] = {&rule[0].basis, &rule[0].kind,       &rule[0].args,
                                &rule[0].results, &rule[0].select, &rule[0].select_tag,
                                &rule[0].silent_max, &rule[0].failed,
                                &rule[0].ignore_progress};
    for (size_t place = 0; place < sizeof numbers / sizeof *numbers; place++) {
        *numbers[place] = 99;
        IS(UNSTUCK_VALUE, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));
        *numbers[place] = 0;
    }
    IS(UNSTUCK_OK, unstuck_policy_of_rules(room, sizeof room, &rules, &policy));

    unstuck_t *detector = NULL;
    IS(UNSTUCK_OK, unstuck_init(storage, UNSTUCK_SIZE_8, unstuck_window_8(), policy, &detector));
    const uint8_t expected[] = {UNSTUCK_PROCEED, UNSTUCK_WARN, UNSTUCK_WARN, UNSTUCK_STOP};
    for (size_t round = 0; round < sizeof expected; round++) {
        IS(UNSTUCK_OK, unstuck_announce(detector, &call, &announced));
        HOLDS(announced.verdict.action == expected[round]);
    }
    IS(UNSTUCK_OK, unstuck_turn(detector, 1, 0, 0, &verdict));
    IS(UNSTUCK_OK, unstuck_turn(detector, 2, 0, 0, &verdict));
    char name[8];
    HOLDS(verdict.action == UNSTUCK_WARN && verdict.finding.about_text == 1);
    HOLDS(unstuck_rule_name(policy, verdict.finding.rule, 1, name, sizeof name) == 4);
    HOLDS(strcmp(name, "talk") == 0);

    /* Moved: it would still point at the rules in the old place. */
    memcpy(other, room, sizeof room);
    policy = (const unstuck_policy_t *)(void *)other;
    IS(UNSTUCK_NO_POLICY, unstuck_init(storage, UNSTUCK_SIZE_8, unstuck_window_8(), policy, &detector));
    HOLDS(unstuck_policy_window(policy) == 0);
}

int main(void) {
    null_everywhere();
    rules_of_ones_own();
    storage_of_all_kinds();
    numbers_out_of_range();
    short_buffers();
    damaged_checkpoints();
    bytes_of_all_kinds();
    rules_for_tools();
    if (failures == 0) {
        puts("every misuse gave a status");
    }
    return failures != 0;
}
