"""Stage 0: a training loop that knows nothing of Determined. The "model" is one number, its training an addition."""

import time


def main(increment_by: float) -> None:
    x = 0.0
    for batch in range(100):
        x += increment_by
        steps_completed = batch + 1
        time.sleep(0.1)
        if steps_completed % 10 == 0:
            print(f"steps_completed={steps_completed} x={x}", flush=True)


if __name__ == "__main__":
    main(increment_by=1.0)
