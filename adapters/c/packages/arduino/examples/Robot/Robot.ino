// A detector stops a planner that repeats a call although the wheel is jammed.

#include <unstuck.h>

alignas(UNSTUCK_ALIGN) static unsigned char storage[UNSTUCK_SIZE_20];
static unstuck_t *detector = nullptr;

void setup() {
  Serial.begin(115200);
  unstuck_status_t status = unstuck_init(storage, sizeof storage, unstuck_window_20(),
        unstuck_balanced(), &detector);
  if (status != UNSTUCK_OK) {
    Serial.println(unstuck_status_message(status));
  }
}

void loop() {
  unstuck_call_t call = {};
  call.tool = 1;  // drive
  unstuck_announced_t announced;
  unstuck_verdict_t verdict = {};
  if (unstuck_announce(detector, &call, &announced) != UNSTUCK_OK) {
    return;
  }
  unstuck_outcome_t outcome = {};
  outcome.failed = 1;
  unstuck_status_t status =
      announced.verdict.action >= UNSTUCK_BLOCK
          ? unstuck_vetoed(detector, &announced.call, &verdict)
          : unstuck_outcome(detector, &announced.call, &outcome, &verdict);
  // Rules that need no outcome judge before the call. The stronger action holds.
  if (announced.verdict.action > verdict.action) {
    verdict = announced.verdict;
  }
  if (status == UNSTUCK_OK) {
    Serial.println(unstuck_action_name(verdict.action));
    if (verdict.action >= UNSTUCK_START_OVER) {
      for (;;) {  // The run ends here: stop the motors, and call a person.
        delay(1000);
      }
    }
  }
  delay(1000);
}
