/**
 * Bounds of text parameters that more than one folder must agree on: the protocols check requests by them, and
 * `supported_parameters` tells them. Requirements: LIM, CONV.
 */
export const textBounds = {
  /** Of chat completions, responses and generateContent; messages has a lower one of its own. */
  temperatureMax: 2,
  topPMax: 1,
  /** Presence and frequency penalty, either side of 0. */
  penaltyMax: 2,
  /** `stop` of chat completions (LIM-12). */
  stopSequencesMax: 4,
  /** LIM-13. */
  topLogprobsMax: 20,
  /** OpenAI's bound of `n`. */
  answersMax: 128,
} as const;
