"""What the agents of `tests.order.shapes` start as a child process: it takes a while, and says what it drew."""

import random
import sys
import time

if __name__ == "__main__":
    time.sleep(random.random() * float(sys.argv[2]))
    print(sys.argv[1], random.random())
