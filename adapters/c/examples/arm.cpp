// A robot's arm from C++17: a joint is nudged towards its goal with moving angles, which is work; then
// its planner swings between two calls, which is a loop.

#include <array>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <unstuck.h>

namespace {

// A detector that lives as long as its object, and stays where it is.
class Detector {
public:
    Detector() {
        if (unstuck_init_20(storage_.data(), storage_.size(), unstuck_balanced(), &detector_) !=
            UNSTUCK_OK) {
            std::terminate();
        }
    }
    Detector(const Detector &) = delete;
    Detector &operator=(const Detector &) = delete;

    // A call with its result, after it ran; what the planner should read, if anything.
    std::optional<std::string> ran(const char *tool, std::string_view args, std::string_view result) {
        unstuck_announced_t announced{};
        unstuck_verdict_t verdict{};
        if (unstuck_announce_json(detector_, nullptr, tool, args.data(), args.size(), nullptr,
                                  &announced) != UNSTUCK_OK ||
            unstuck_outcome_text(detector_, &announced.call, tool, result.data(), result.size(), 0,
                                 &verdict) != UNSTUCK_OK ||
            verdict.fresh == 0) {
            return std::nullopt;
        }
        std::string nudge(UNSTUCK_NUDGE_MAX, '\0');
        nudge.resize(unstuck_nudge(detector_, &verdict, tool, nudge.data(), nudge.size()));
        return nudge;
    }

private:
    alignas(UNSTUCK_ALIGN) std::array<unsigned char, UNSTUCK_SIZE_20> storage_{};
    unstuck_t *detector_ = nullptr;
};

void show(std::string_view what, const std::optional<std::string> &nudge) {
    std::cout << what << '\n';
    if (nudge) {
        std::cout << "   " << *nudge << '\n';
    }
}

} // namespace

int main() {
    static Detector detector;
    for (int angle = 10; angle <= 50; angle += 10) {
        const std::string result = "elbow at " + std::to_string(angle) + " of 50 degrees";
        show(result, detector.ran("nudge_joint", R"({"joint":"elbow","by":10})", result));
    }
    for (int turn = 0; turn < 3; turn++) {
        show("left", detector.ran("turn", R"({"to":"left"})", "facing the wall"));
        show("right", detector.ran("turn", R"({"to":"right"})", "facing the door"));
    }
    return 0;
}
