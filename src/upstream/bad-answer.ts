/** An answer that looked good and is not. */
import type { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { isModelsMistake } from "./models-mistake.ts";
import { toldMistake } from "./told-mistake.ts";
import { isTooLong, tooLong } from "./too-long.ts";

/** Thrown by whoever reads the answer: the next provider may do better. */
export class BadAnswerError extends Error {
  override name = "BadAnswerError";
  /** What is wrong with it, fit for the caller. The message adds the vendor's own words, which are for the operator. */
  readonly reason: string;
  /** What the model made of this one request: it says nothing of its provider. */
  readonly isModels: boolean;
  /** What its caller is told, where the request is at fault: every provider would refuse it. */
  readonly refusal: GatewayError | undefined;
  /** The vendor's error, where it holds one. */
  readonly told: WireError | undefined;

  constructor(reason: string, { told, cause, isModels = false, refusal }: Details = {}) {
    super(told === undefined ? reason : `${reason}: ${told.message}`, { cause });
    this.reason = reason;
    this.isModels = isModels;
    this.refusal = refusal;
    this.told = told;
  }
}

/** An answer, or a stream, that holds an error in spite of its status. */
export const answeredError = (reason: string, wire: WireError): BadAnswerError =>
  new BadAnswerError(reason, {
    told: wire,
    isModels: wire.isModels === true || isModelsMistake(wire),
    refusal: isTooLong(wire) ? tooLong(wire) : toldMistake(wire),
  });

interface Details {
  readonly told?: WireError | undefined;
  readonly cause?: unknown;
  readonly isModels?: boolean | undefined;
  readonly refusal?: GatewayError | undefined;
}
