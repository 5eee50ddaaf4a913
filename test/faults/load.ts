/** Steady load on a gateway that may die, stop or lose its database meanwhile. Records the result of each call by its id. */

export interface Load {
  /** Calls begun so far. */
  begun: number;
  /** Ids of calls whose answer came whole. */
  readonly whole: Set<string>;
  /** Unsuccessful answers, counted by status and code, such as `503 database_unavailable`. */
  readonly refused: Map<string, number>;
  /** Calls whose connection was refused or cut, including streams without an end. */
  cut: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly perSecond: number;
  readonly model: string;
  /** The last user text: a sandbox script, or any text. */
  readonly text: string;
  /**
   * The most calls open at once; calls due beyond that are left out. On a machine that cannot keep up, calls then wait for each
   * other, and do not fail at the test's own listener. No limit if absent.
   */
  readonly openMax?: number;
  /** True once no further call should begin. */
  until(): boolean;
  /** Receives the reason why a call was cut. */
  readonly onCut?: (reason: string) => void;
}

export const newLoad = (): Load => ({ begun: 0, whole: new Set(), refused: new Map(), cut: 0 });

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Begins calls at a steady rate, every second one streamed, and resolves when all have ended. */
export async function drive(options: LoadOptions, load: Load): Promise<void> {
  const { perSecond, openMax = Infinity } = options;
  const calls: Promise<void>[] = [];
  const started = performance.now();
  let open = 0;
  let leftOut = 0;
  while (!options.until()) {
    const due = ((performance.now() - started) / 1000) * perSecond - leftOut;
    while (calls.length < due && open < openMax) {
      load.begun += 1;
      open += 1;
      calls.push(oneCall(options, load, calls.length % 2 === 0).finally(() => (open -= 1)));
    }
    leftOut += Math.max(Math.floor(due) - calls.length, 0);
    await sleep(5);
  }
  await Promise.all(calls);
}

async function oneCall(options: LoadOptions, load: Load, stream: boolean): Promise<void> {
  try {
    const response = await fetch(`${options.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${options.key}` },
      body: JSON.stringify({
        model: options.model,
        stream,
        messages: [{ role: "user", content: options.text }],
      }),
    });
    const text = await response.text();
    if (response.status !== 200) count(load, response.status, text);
    else if (text.endsWith(stream ? "data: [DONE]\n\n" : "}"))
      load.whole.add(response.headers.get("x-request-id")!);
    else load.cut += 1;
  } catch (error) {
    load.cut += 1;
    options.onCut?.(`${(error as Error).message}, ${String((error as Error).cause)}`);
  }
}

/** The code of an error, or `not ours` if the gateway did not write it, such as a balancer's page. */
function codeOf(text: string): string {
  if (!text.startsWith("{")) return "not ours";
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}

function count(load: Load, status: number, text: string): void {
  const name = `${status} ${codeOf(text)}`;
  load.refused.set(name, (load.refused.get(name) ?? 0) + 1);
}
