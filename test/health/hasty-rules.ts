/** Health rules with short times. A file of its own, because a gateway's own process reads it too. */
import { defaultHealthRules, type HealthRules } from "../../src/routing/index.ts";

export const hastyRules: HealthRules = {
  circuit: {
    ...defaultHealthRules.circuit,
    firstPauseMs: 500,
    pauseMsMax: 2_000,
    recoveryMs: 400,
    halfLifeMs: 1_000,
  },
  credentials: defaultHealthRules.credentials,
};
