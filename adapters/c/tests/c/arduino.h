/* As much of Arduino's own header as the sketch needs, to compile it without the SDK. */

struct SerialPort {
    void begin(unsigned long) {}
    void println(const char *) {}
};

static SerialPort Serial;

static inline void delay(unsigned long) {}

void setup();
void loop();
