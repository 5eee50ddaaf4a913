/** The results of this page, newest first. */
import { useEffect, useRef, useState } from "react";
import { asApiError, type ApiError } from "../../api/errors.ts";
import { isStop } from "./call.ts";
import { generate, type Output, type GenerationRequest } from "./generate.ts";

export interface Generation {
  readonly id: number;
  readonly keyId: string;
  readonly model: string;
  /** The reader's prompt. */
  readonly label: string;
  readonly state: "making" | "done" | "stopped" | "failed";
  readonly output?: Output;
  readonly error?: ApiError;
}

type NewGeneration = Pick<Generation, "keyId" | "model" | "label">;

export function useGenerations(ended: (requestId: string) => void) {
  const [list, setList] = useState<readonly Generation[]>([]);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);

  async function run(
    begun: NewGeneration,
    prepare: () => GenerationRequest | Promise<GenerationRequest>,
  ): Promise<void> {
    const stop = new AbortController();
    stopping.current = stop;
    const id = (list[0]?.id ?? 0) + 1;
    setList((before) => [{ ...begun, id, state: "making" }, ...before]);
    const report = (part: Partial<Generation>) =>
      setList((before) => before.map((one) => (one.id === id ? { ...one, ...part } : one)));
    try {
      const output = await generate(await prepare(), begun.keyId, stop.signal);
      report({ state: "done", output });
      if (output.requestId !== undefined) ended(output.requestId);
    } catch (thrown) {
      report(
        isStop(thrown) ? { state: "stopped" } : { state: "failed", error: asApiError(thrown) },
      );
    }
  }

  return {
    list,
    running: list[0]?.state === "making",
    run,
    stop: () => stopping.current?.abort(),
  };
}
