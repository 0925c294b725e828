/* Firmware of a robot. The detector finds a jammed wheel and leaves a moving joint alone. */

#include "start.h"

#include <stdalign.h>
#include <unstuck.h>

static alignas(UNSTUCK_ALIGN) unsigned char storage[UNSTUCK_SIZE_20];

enum { DRIVE = 1, NUDGE_JOINT = 2 };

/* Announces a call and reports its result. Returns the action of the verdict. */
static uint8_t run_call(unstuck_t *detector, uint32_t tool, uint64_t result, uint32_t distance) {
    unstuck_call_t call = {0};
    call.tool = tool;
    unstuck_announced_t announced;
    unstuck_verdict_t verdict;
    if (unstuck_announce(detector, &call, &announced) != UNSTUCK_OK) {
        return UNSTUCK_STOP;
    }
    unstuck_outcome_t outcome = {0};
    outcome.result = result;
    outcome.score = distance;
    outcome.has_score = 1;
    /* A wheel that does not turn is a failure, which proves that another try does not help. */
    outcome.failed = tool == DRIVE;
    unstuck_status_t status =
        announced.verdict.action >= UNSTUCK_BLOCK
            ? unstuck_vetoed(detector, &announced.call, &verdict)
            : unstuck_outcome(detector, &announced.call, &outcome, &verdict);
    return status == UNSTUCK_OK ? verdict.action : (uint8_t)UNSTUCK_STOP;
}

int run(void) {
    unstuck_t *detector;
    unstuck_status_t status = unstuck_init(storage, sizeof storage, unstuck_window_20(),
        unstuck_balanced(), &detector);
    if (status != UNSTUCK_OK) {
        say(unstuck_status_message(status));
        return 1;
    }
    say_number(stack_used());
    say(" bytes of stack to begin\n");
    paint_stack();
    for (uint32_t angle = 0; angle < 8; angle++) {
        if (run_call(detector, NUDGE_JOINT, angle, 8 - angle) != UNSTUCK_PROCEED) {
            say("the joint is not left alone\n");
            return 1;
        }
    }
    for (uint32_t turn = 0; turn < 8; turn++) {
        say(unstuck_action_name(run_call(detector, DRIVE, 0, 2)));
        say("\n");
    }
    say_number(stack_used());
    say(" bytes of stack for a call and its outcome\n");
    return 0;
}
