/** The error of an answer with a good status and unusable content. */
import type { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { isModelsMistake } from "./models-mistake.ts";
import { mistakeInAnswer, refusalByStatus } from "./mistake-in-answer.ts";
import { isTooLong, tooLong } from "./too-long.ts";

/** Thrown by the reader of an answer: the next provider may do better. */
export class BadAnswerError extends Error {
  override name = "BadAnswerError";
  /** The problem, in words for the caller. The message adds the vendor's own words, for the operator. */
  readonly reason: string;
  /** True if the model's output for this one request is at fault: that says nothing about the provider. */
  readonly isModels: boolean;
  /** The caller's error if the request is at fault. */
  readonly refusal: GatewayError | undefined;
  /** True if another provider may take a request that this one refuses. */
  readonly othersMayAnswer: boolean;
  /** The vendor's error, if the answer contains one. */
  readonly errorInAnswer: WireError | undefined;

  constructor(reason: string, details: Details = {}) {
    const { errorInAnswer, cause, isModels = false, refusal, othersMayAnswer = false } = details;
    super(errorInAnswer === undefined ? reason : `${reason}: ${errorInAnswer.message}`, { cause });
    this.reason = reason;
    this.isModels = isModels;
    this.refusal = refusal;
    this.othersMayAnswer = othersMayAnswer;
    this.errorInAnswer = errorInAnswer;
  }
}

/** Returns the error of an answer, or a stream, that contains an error in spite of its status. */
export function answeredError(reason: string, wire: WireError): BadAnswerError {
  const byAll = isTooLong(wire) ? tooLong(wire) : mistakeInAnswer(wire);
  const refusal = byAll ?? refusalByStatus(wire);
  return new BadAnswerError(reason, {
    errorInAnswer: wire,
    isModels: wire.isModels === true || isModelsMistake(wire),
    refusal,
    othersMayAnswer: refusal !== byAll,
  });
}

interface Details {
  readonly errorInAnswer?: WireError | undefined;
  readonly cause?: unknown;
  readonly isModels?: boolean | undefined;
  readonly refusal?: GatewayError | undefined;
  readonly othersMayAnswer?: boolean | undefined;
}
