"""python -m ganz COMMAND: the program."""
from ._program import main

if __name__ == "__main__":
    main()
