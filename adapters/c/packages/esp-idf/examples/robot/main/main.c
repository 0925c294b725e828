/* A detector stops a planner that repeats a call although the wheel is jammed. */

#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <unstuck.h>

static alignas(UNSTUCK_ALIGN) unsigned char storage[UNSTUCK_SIZE_20];

void app_main(void);

void app_main(void) {
    static const char result[] = "stalled";
    unstuck_t *detector;
    if (unstuck_init(storage, sizeof storage, unstuck_window_20(), unstuck_balanced(), &detector) !=
        UNSTUCK_OK) {
        return;
    }
    for (int turn = 0; turn < 8; turn++) {
        unstuck_call_t call = {0};
        call.tool = unstuck_tool("drive");
        unstuck_announced_t announced;
        unstuck_verdict_t verdict = {0};
        if (unstuck_announce(detector, &call, &announced) != UNSTUCK_OK) {
            return;
        }
        unstuck_outcome_t outcome = {0};
        outcome.result = unstuck_digest(result, strlen(result));
        outcome.failed = 1;
        unstuck_status_t status =
            announced.verdict.action >= UNSTUCK_BLOCK
                ? unstuck_vetoed(detector, &announced.call, &verdict)
                : unstuck_outcome(detector, &announced.call, &outcome, &verdict);
        /* Rules that need no outcome judge before the call. The stronger action holds. */
        if (announced.verdict.action > verdict.action) {
            verdict = announced.verdict;
        }
        if (status == UNSTUCK_OK) {
            printf("#%d %s\n", turn, unstuck_action_name(verdict.action));
            if (verdict.action >= UNSTUCK_START_OVER) {
                return; /* The run ends here: stop the motors, and call a person. */
            }
        }
    }
}
