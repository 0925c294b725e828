/* Plays a table of events to the library and compares every verdict. */

#include "play.h"

#include <stdalign.h>
#include <stdbool.h>

enum { NAMED_MAX = 64 };

static alignas(UNSTUCK_ALIGN) unsigned char rooms[2][UNSTUCK_SIZE_20];
static alignas(UNSTUCK_ALIGN) unsigned char room_for_similar[UNSTUCK_SIMILAR_SIZE];
static unstuck_call_id_t named[NAMED_MAX];
static char checkpoint[UNSTUCK_CHECKPOINT_20];

/* The state of a run. */
typedef struct {
    const table_t *table;
    const unstuck_policy_t *policy;
    unstuck_t *detector;
    unstuck_similar_t *similar;
    unstuck_verdict_t finding; /* The latest verdict that had one. */
    uint32_t calls;
    unsigned room;
} run_t;

static const unstuck_policy_t *preset(uint8_t which) {
    switch (which) {
    case 0: return unstuck_balanced();
    case 1: return unstuck_start_over();
    case 2: return unstuck_graduated();
    case 3: return unstuck_graduated_conservative();
    case 4: return unstuck_graduated_aggressive();
    case 5: return unstuck_nudge_early();
    case 6: return unstuck_cycles();
    default: return unstuck_repeat();
    }
}

static bool begin(run_t *run, uint8_t which) {
    run->policy = preset(which);
    run->calls = 0;
    run->room = 0;
    const unstuck_window_t *window = unstuck_full_window_20();
    return unstuck_init(rooms[0], sizeof rooms[0], window, run->policy, &run->detector) == UNSTUCK_OK
        && unstuck_similar_init(room_for_similar, sizeof room_for_similar, &run->similar) == UNSTUCK_OK;
}

/* Returns whether the nudge about verdict has this digest. */
static bool has_nudge(run_t *run, const unstuck_verdict_t *verdict, uint64_t digest) {
    char nudge[UNSTUCK_NUDGE_MAX];
    size_t length = unstuck_nudge(run->detector, verdict, "grip", nudge, sizeof nudge);
    return length > 0 && length < sizeof nudge && unstuck_digest(nudge, length) == digest;
}

static bool is(run_t *run, const unstuck_verdict_t *verdict, const expected_t *expected) {
    const unstuck_finding_t *finding = &verdict->finding;
    if (verdict->action != expected->action || verdict->rung != expected->rung
        || verdict->fresh != expected->fresh || verdict->has_finding != expected->has_finding) {
        return false;
    }
    if (!verdict->has_finding) {
        return true;
    }
    bool same = finding->first == expected->first && finding->last == expected->last
        && finding->loop_id == expected->loop_id && finding->evidence == expected->evidence
        && finding->tool == expected->tool && finding->laps == expected->laps
        && finding->period == expected->period && finding->confidence == expected->confidence
        && finding->rule == expected->rule && finding->about_text == expected->about_text
        && finding->failed == expected->failed && finding->kind == expected->kind
        && finding->args == expected->args && finding->results == expected->results
        && finding->tag == expected->tag && finding->most == expected->most;
    return same && has_nudge(run, verdict, expected->nudge);
}

static unstuck_call_t call_of(const event_t *event) {
    unstuck_call_t call = {0};
    call.args = event->one;
    call.similar = event->two;
    call.step = event->number;
    call.tool = event->tool;
    call.tag = event->tag;
    call.has_similar = event->flags & ALIKE;
    call.has_step = event->flags & NUMBERED;
    call.idempotent = event->flags & IDEMPOTENT;
    return call;
}

static unstuck_outcome_t outcome_of(const event_t *event) {
    unstuck_outcome_t outcome = {0};
    outcome.result = event->one;
    outcome.near_result = event->two;
    outcome.score = event->number;
    outcome.has_near = event->flags & ALIKE;
    outcome.has_score = event->flags & NUMBERED;
    outcome.failed = event->flags & FAILED;
    outcome.silent = event->flags & SILENT;
    outcome.pending = event->flags & PENDING;
    outcome.transient = event->flags & TRANSIENT;
    outcome.raw = event->tool;
    outcome.has_raw = event->flags & RAW;
    return outcome;
}

/* Saves the detector, and restores it in the other storage. */
static bool restore(run_t *run, uint64_t digest) {
    size_t length = 0;
    if (unstuck_save(run->detector, checkpoint, sizeof checkpoint, &length) != UNSTUCK_OK
        || unstuck_digest(checkpoint, length) != digest) {
        return false;
    }
    run->room ^= 1;
    void *room = rooms[run->room];
    return unstuck_restore(room, sizeof rooms[0], unstuck_full_window_20(), run->policy, checkpoint,
                           length, &run->detector) == UNSTUCK_OK;
}

static bool announce(run_t *run, const event_t *event) {
    unstuck_announced_t announced;
    unstuck_status_t status;
    if (event->kind == DO_ANNOUNCE) {
        unstuck_call_t call = call_of(event);
        status = unstuck_announce(run->detector, &call, &announced);
    } else {
        const text_t *args = &run->table->texts[event->text];
        const char *tool = run->table->texts[event->name].bytes;
        uint64_t step = event->number;
        status = unstuck_announce_json(run->detector, run->similar, tool, args->bytes, args->length,
                                       event->flags & NUMBERED ? &step : NULL, &announced);
    }
    named[run->calls++ % NAMED_MAX] = announced.call;
    const expected_t *expected = run->table->expected;
    if (announced.settled.has_finding) {
        run->finding = announced.settled;
    }
    if (announced.verdict.has_finding) {
        run->finding = announced.verdict;
    }
    return status == UNSTUCK_OK && is(run, &announced.verdict, &expected[event->verdict])
        && is(run, &announced.settled, &expected[event->settled]);
}

static bool judge(run_t *run, const event_t *event) {
    unstuck_t *detector = run->detector;
    const unstuck_call_id_t *id = &named[event->which];
    const text_t *text = &run->table->texts[event->text];
    const char *tool = run->table->texts[event->name].bytes;
    unstuck_call_t call = call_of(event);
    unstuck_outcome_t outcome = outcome_of(event);
    unstuck_verdict_t verdict;
    unstuck_status_t status;
    switch (event->kind) {
    case DO_OUTCOME: status = unstuck_outcome(detector, id, &outcome, &verdict); break;
    case DO_OUTCOMETEXT:
        status = unstuck_outcome_text(detector, id, tool, text->bytes, text->length,
                                      event->flags & FAILED, &verdict);
        break;
    case DO_VETOED: status = unstuck_vetoed(detector, id, &verdict); break;
    case DO_CANCEL: status = unstuck_cancel(detector, id, &verdict); break;
    case DO_FINISH: status = unstuck_finish(detector, &verdict); break;
    case DO_TURN:
        status = unstuck_turn(detector, event->one, event->tag, (uint16_t)event->number, &verdict);
        break;
    case DO_TURNTEXT:
        status = unstuck_turn_text(detector, text->bytes, text->length, &verdict);
        break;
    case DO_USER: status = unstuck_user_message(detector, event->one, &verdict); break;
    case DO_USERTEXT:
        status = unstuck_user_message_text(detector, text->bytes, text->length, &verdict);
        break;
    default: status = unstuck_peek(detector, &call, &verdict); break;
    }
    if (status == UNSTUCK_OK && verdict.has_finding) {
        run->finding = verdict;
    }
    return status == UNSTUCK_OK && is(run, &verdict, &run->table->expected[event->verdict]);
}

static bool play_event(run_t *run, const event_t *event) {
    unstuck_t *detector = run->detector;
    size_t taken = 0;
    switch (event->kind) {
    case DO_BEGIN: return begin(run, event->which);
    case DO_ANNOUNCE:
    case DO_ANNOUNCEJSON: return announce(run, event);
    case DO_CLEAR: return unstuck_clear(detector) == UNSTUCK_OK;
    case DO_PROGRESS: return unstuck_progress(detector) == UNSTUCK_OK;
    case DO_RETRY:
        return unstuck_retry(detector, event->number, &taken) == UNSTUCK_OK && taken == event->one;
    case DO_SILENCE: return unstuck_silence(detector, event->one) == UNSTUCK_OK;
    case DO_FALSEPOSITIVE: return unstuck_false_positive(detector, &run->finding) == UNSTUCK_OK;
    case DO_RESTORE: return restore(run, event->one);
    default: return judge(run, event);
    }
}

uint32_t play(const table_t *table) {
    run_t run = {0};
    run.table = table;
    for (uint32_t place = 0; place < table->count; place++) {
        if (!play_event(&run, &table->events[place])) {
            return place;
        }
    }
    return table->count;
}
