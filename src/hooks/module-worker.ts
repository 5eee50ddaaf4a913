/** The thread that runs a hook's module. It knows only the questions it receives. */
import { parentPort, workerData } from "node:worker_threads";
import { parseJsonText } from "../base/json-text.ts";
import type { FromThread, ThreadQuestion, ThreadStart, ToThread } from "./module-hook.ts";

type Hook = (event: unknown) => unknown;

const { module, at } = workerData as ThreadStart;
const port = parentPort!;
const say = (message: FromThread): void => port.postMessage(message);

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

function hookOf(loaded: Readonly<Record<string, unknown>>): Hook {
  const hook = loaded[at];
  if (typeof hook !== "function") throw new Error(`it exports no function named ${at}`);
  return hook as Hook;
}

async function answer(hook: Hook, { id, text, answerBytesMax }: ThreadQuestion): Promise<void> {
  try {
    const said: unknown = await hook(parseJsonText(text, undefined, false));
    const answer = JSON.stringify(said) ?? "";
    if (Buffer.byteLength(answer) > answerBytesMax)
      throw new Error(`its answer is longer than ${answerBytesMax} bytes`);
    say({ id, text: answer });
  } catch (error) {
    say({ id, error: messageOf(error) });
  }
}

try {
  const hook = hookOf((await import(module)) as Readonly<Record<string, unknown>>);
  port.on("message", (message: ToThread) => {
    if (message === "ping") say("pong");
    else void answer(hook, message);
  });
  say("ready");
} catch (error) {
  say({ unloadable: messageOf(error) });
}
