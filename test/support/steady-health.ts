/** Health rules that never exclude a provider: for tests of repeated failures, one after the other. */
import { defaultHealthRules, type HealthRules } from "../../src/routing/index.ts";

export const steadyHealthRules: HealthRules = {
  circuit: { ...defaultHealthRules.circuit, failuresInRow: Infinity, callsMin: Infinity },
  credentials: {
    limited: { firstPauseMs: 0, pauseMsMax: 0 },
    refused: { firstPauseMs: 0, pauseMsMax: 0 },
  },
};
