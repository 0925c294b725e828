// A robot's arm in C++17. First a joint moves towards its goal, which is work. Then the planner swings
// between two calls, which is a loop.

#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <unstuck.h>

namespace {

// A detector in storage of its own. It cannot be copied or moved.
class Detector {
public:
    Detector() {
        if (unstuck_init(storage_.data(), storage_.size(), unstuck_window_20(), unstuck_balanced(),
                         &detector_) != UNSTUCK_OK) {
            std::terminate();
        }
    }
    Detector(const Detector &) = delete;
    Detector &operator=(const Detector &) = delete;

    // Announces a call. If it is blocked, returns the reason, which replaces the result for the planner.
    std::optional<std::string> before(const char *tool, std::string_view args) {
        announced_ = {};
        if (unstuck_announce_json(detector_, nullptr, tool, args.data(), args.size(), nullptr,
                                  &announced_) != UNSTUCK_OK ||
            announced_.verdict.action < UNSTUCK_BLOCK) {
            return std::nullopt;
        }
        unstuck_verdict_t verdict{};
        unstuck_vetoed(detector_, &announced_.call, &verdict);
        return message(tool, announced_.verdict);
    }

    // Reports the result of a call. Returns a nudge for the planner, if there is one.
    std::optional<std::string> after(const char *tool, std::string_view result, bool failed) {
        unstuck_verdict_t verdict{};
        if (unstuck_outcome_text(detector_, &announced_.call, tool, result.data(), result.size(),
                                 failed ? 1 : 0, &verdict) != UNSTUCK_OK ||
            verdict.fresh == 0) {
            return std::nullopt;
        }
        return message(tool, verdict);
    }

private:
    std::string message(const char *tool, const unstuck_verdict_t &verdict) {
        std::string nudge(UNSTUCK_NUDGE_MAX, '\0');
        // Like snprintf(), it returns the length of the whole message.
        const auto length = unstuck_nudge(detector_, &verdict, tool, nudge.data(), nudge.size());
        nudge.resize(std::min(length, nudge.find('\0')));
        return nudge;
    }

    alignas(UNSTUCK_ALIGN) std::array<unsigned char, UNSTUCK_SIZE_20> storage_{};
    unstuck_t *detector_ = nullptr;
    unstuck_announced_t announced_{};
};

// Runs a call of the planner unless it is refused.
void run(Detector &detector, const char *tool, std::string_view args, std::string_view result) {
    if (const auto refused = detector.before(tool, args)) {
        std::cout << tool << ' ' << args << " is refused\n   " << *refused << '\n';
        return;
    }
    std::cout << tool << ' ' << args << ": " << result << '\n';
    if (const auto nudge = detector.after(tool, result, false)) {
        std::cout << "   " << *nudge << '\n';
    }
}

} // namespace

int main() {
    static Detector detector;
    for (int angle = 10; angle <= 50; angle += 10) {
        const std::string result = "elbow at " + std::to_string(angle) + " of 50 degrees";
        run(detector, "nudge_joint", R"({"joint":"elbow","by":10})", result);
    }
    for (int look = 0; look < 5; look++) {
        run(detector, "read_range", R"({"to":"left"})", "a wall at 40 cm");
        run(detector, "read_range", R"({"to":"right"})", "a door at 120 cm");
    }
    return 0;
}
