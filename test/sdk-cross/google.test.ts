/** @google/genai over generateContent, answered by upstreams of the three other protocols. Requirements: TXT, CONV. */
import { describe } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { describeCrossings } from "./pairs.ts";

describe("@google/genai over generateContent", () => {
  describeCrossings("generate_content", shareOfRows);
});
