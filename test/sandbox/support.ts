/** What the sandbox's tests share: one running sandbox, and the script line as text. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { startSandbox } from "../../src/sandbox/index.ts";

/** A sandbox for the tests of one file; its journal is empty before each test. */
export function useSandbox(): { readonly url: string; readonly journal: Sandbox["journal"] } {
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
  });
  beforeEach(() => sandbox!.journal.clear());
  afterAll(() => sandbox!.close());
  return {
    get url() {
      return sandbox!.url;
    },
    get journal() {
      return sandbox!.journal;
    },
  };
}

/** A user text that carries a script. */
export const scripted = (script: object, words = "Hello") =>
  `${words}\n#sandbox ${JSON.stringify(script)}`;
