/** The results of this page, newest first. */
import { useEffect, useRef, useState } from "react";
import { asApiError, type ApiError } from "../../api/errors.ts";
import { isStop } from "./call.ts";
import { make, type Output, type Prepared } from "./make.ts";

export interface Made {
  readonly id: number;
  readonly keyId: string;
  readonly model: string;
  /** The reader's prompt. */
  readonly label: string;
  readonly state: "making" | "done" | "stopped" | "failed";
  readonly output?: Output;
  readonly error?: ApiError;
}

type Begun = Pick<Made, "keyId" | "model" | "label">;

export function useMaking(ended: (requestId: string) => void) {
  const [made, setMade] = useState<readonly Made[]>([]);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);

  async function run(begun: Begun, prepare: () => Prepared | Promise<Prepared>): Promise<void> {
    const stop = new AbortController();
    stopping.current = stop;
    const id = (made[0]?.id ?? 0) + 1;
    setMade((before) => [{ ...begun, id, state: "making" }, ...before]);
    const report = (part: Partial<Made>) =>
      setMade((before) => before.map((one) => (one.id === id ? { ...one, ...part } : one)));
    try {
      const output = await make(await prepare(), begun.keyId, stop.signal);
      report({ state: "done", output });
      if (output.requestId !== undefined) ended(output.requestId);
    } catch (thrown) {
      report(
        isStop(thrown) ? { state: "stopped" } : { state: "failed", error: asApiError(thrown) },
      );
    }
  }

  return {
    made,
    running: made[0]?.state === "making",
    run,
    stop: () => stopping.current?.abort(),
  };
}
