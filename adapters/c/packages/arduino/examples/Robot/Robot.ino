// A wheel is jammed, and the planner keeps asking for the same: what the detector makes of it.

#include <unstuck.h>

alignas(UNSTUCK_ALIGN) static unsigned char storage[UNSTUCK_SIZE_20];
static unstuck_t *detector = nullptr;

void setup() {
  Serial.begin(115200);
  unstuck_status_t status =
      unstuck_init_20(storage, sizeof storage, unstuck_balanced(), &detector);
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
  // Rules that need no outcome spoke before: whichever asks for more holds.
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
