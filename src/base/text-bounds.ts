/**
 * Bounds of text parameters that several folders share: the protocols check requests by them, and `supported_parameters` lists them.
 * Requirements: LIM, CONV.
 */
export const textBounds = {
  /** For chat completions, responses and generateContent; messages has its own lower one. */
  temperatureMax: 2,
  topPMax: 1,
  /** For presence and frequency penalty, on either side of 0. */
  penaltyMax: 2,
  /** For `stop` of chat completions (LIM-12). */
  stopSequencesMax: 4,
  /** LIM-13. */
  topLogprobsMax: 20,
  /** OpenAI's bound of `n`. */
  answersMax: 128,
} as const;
