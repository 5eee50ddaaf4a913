@rem The scripts in package.json say "exec node ...", so that a signal to npm reaches the program and not a
@rem shell that dies in between. Windows has no exec, but looks for commands in this folder first.
@%*
