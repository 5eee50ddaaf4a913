/** The operator's own checks before and after calls. docs/hooks.md. */
export { answerCharactersMax } from "./events.ts";
export { loadModule } from "./module-hook.ts";
export { openHooks } from "./open.ts";
export type { AskedCall, ChangedCall, EndedCall, HookOutcome, Hooks, AnswerText } from "./types.ts";
