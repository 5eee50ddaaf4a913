/** Signals that stop a gateway. */

/**
 * The same Ctrl-C comes twice under `npm start`: from the terminal to the whole process group, and passed on by npm. A person
 * needs longer for a second one.
 */
export const sameSignalMs = 500;
