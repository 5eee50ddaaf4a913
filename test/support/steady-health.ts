/** Rules by which nothing is ever left out: for tests of what comes after a failure, one failure after the other. */
import { defaultHealthRules, type HealthRules } from "../../src/routing/index.ts";

export const steadyHealthRules: HealthRules = {
  circuit: { ...defaultHealthRules.circuit, failuresInRow: Infinity, callsMin: Infinity },
  credentials: {
    limited: { firstPauseMs: 0, pauseMsMax: 0 },
    refused: { firstPauseMs: 0, pauseMsMax: 0 },
  },
};
