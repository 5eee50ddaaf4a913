/** When a circuit opens, probes, closes and recovers, step by step. docs/routing.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { Circuit, defaultCircuitRules } from "../../src/routing/circuit.ts";

const rules = {
  ...defaultCircuitRules,
  firstPauseMs: 1_000,
  pauseMsMax: 4_000,
  probeMs: 500,
  recoveryMs: 1_000,
};

let circuit: Circuit;
let nowMs: number;
beforeEach(() => {
  circuit = new Circuit(rules);
  nowMs = 10_000;
});

const fail = (silent = false) => circuit.failed(nowMs, nowMs, silent);
const succeed = () => circuit.succeeded(nowMs, nowMs);
const state = () => circuit.state(nowMs);
const times = (count: number, act: () => void) => {
  for (let index = 0; index < count; index += 1) act();
};

describe("a closed circuit", () => {
  it("opens after five failures in a row, and not after four and a success", () => {
    times(4, fail);
    succeed();
    times(4, fail);
    expect(state()).toBe("closed");
    fail();
    expect(state()).toBe("open");
    expect(circuit.openedMs).toBe(nowMs);
  });

  it("opens after three timeouts", () => {
    times(2, () => fail(true));
    expect(state()).toBe("closed");
    fail(true);
    expect(state()).toBe("open");
  });

  it("opens when half of the recent calls fail, in any order", () => {
    times(4, () => {
      succeed();
      fail();
    });
    expect(state()).toBe("closed");
    succeed();
    fail();
    expect(state()).toBe("open");
  });

  it("stays closed when one call in five fails", () => {
    times(100, () => {
      times(4, succeed);
      fail();
    });
    expect(state()).toBe("closed");
    expect(circuit.failureShare(nowMs)).toBeCloseTo(0.2, 2);
  });

  it("hardly counts calls of long ago", () => {
    times(100, succeed);
    nowMs += 20 * rules.halfLifeMs;
    times(4, fail);
    expect(circuit.failureShare(nowMs)).toBeGreaterThan(0.99);
  });
});

describe("an open circuit", () => {
  beforeEach(() => times(5, fail));

  it("admits one probe after its pause, and nothing else until the probe ends", () => {
    expect(circuit.admit(nowMs + 999)).toBe(false);
    nowMs += 1_000;
    expect(state()).toBe("due");
    expect(circuit.admit(nowMs)).toBe(true);
    expect(circuit.admit(nowMs)).toBe(false);
    expect(state()).toBe("open");
  });

  it("counts as probed only from the start of a probe to its end", () => {
    const probed = () => circuit.isProbed(nowMs);
    expect(probed()).toBe(false);
    nowMs += 1_000;
    expect(probed()).toBe(false);
    circuit.admit(nowMs);
    expect(probed()).toBe(true);
    nowMs += 499;
    expect(probed()).toBe(true);
    nowMs += 1;
    expect(probed()).toBe(false);
    circuit.admit(nowMs);
    fail();
    expect(probed()).toBe(false);
    nowMs += 2_000;
    circuit.admit(nowMs);
    succeed();
    expect(probed()).toBe(false);
  });

  it("has the same next pause if many calls fail beside the probe", () => {
    nowMs += 1_000;
    circuit.admit(nowMs);
    const begunMs = nowMs;
    nowMs += 10;
    times(20, () => circuit.failed(begunMs, nowMs, false));
    nowMs += 2_000;
    expect(state()).toBe("due");
  });

  it("doubles its pause after each failed probe, up to the longest", () => {
    for (const pauseMs of [1_000, 2_000, 4_000, 4_000]) {
      nowMs += pauseMs - 1;
      expect(state()).toBe("open");
      nowMs += 1;
      expect(circuit.admit(nowMs)).toBe(true);
      fail();
      expect(state()).toBe("open");
    }
  });

  it("admits the next probe when one never ends, after the probe's time limit", () => {
    nowMs += 1_000;
    expect(circuit.admit(nowMs)).toBe(true);
    nowMs += 500;
    expect(circuit.admit(nowMs)).toBe(true);
  });

  it("admits the next probe at once after one without a verdict", () => {
    nowMs += 1_000;
    expect(circuit.admit(nowMs)).toBe(true);
    circuit.undecided(nowMs);
    expect(circuit.admit(nowMs)).toBe(true);
  });

  it("admits no second probe when earlier calls are abandoned during a probe", () => {
    const begunMs = nowMs - 1;
    nowMs += 1_000;
    expect(circuit.admit(nowMs)).toBe(true);
    nowMs += 10;
    times(20, () => circuit.undecided(begunMs));
    expect(circuit.isProbed(nowMs)).toBe(true);
    expect(circuit.admit(nowMs)).toBe(false);
  });

  it("ignores the results of calls that began before it opened", () => {
    circuit.succeeded(nowMs - 1, nowMs);
    expect(state()).toBe("open");
    nowMs += 1_000;
    times(10, () => circuit.failed(5_000, nowMs, true));
    expect(state()).toBe("due");
  });

  it("is closed by a successful call without another provider, as by a probe", () => {
    nowMs += 10;
    succeed();
    expect(state()).toBe("closed");
  });

  it("does not extend its pause for failures of calls without another provider", () => {
    nowMs += 500;
    times(50, fail);
    nowMs += 500;
    expect(state()).toBe("due");
  });
});

describe("a recovering circuit", () => {
  beforeEach(() => {
    times(5, fail);
    nowMs += 1_000;
    circuit.admit(nowMs);
    succeed();
  });

  it("raises its share from a tenth to all", () => {
    expect(circuit.share(nowMs)).toBe(0.1);
    expect(circuit.share(nowMs + 500)).toBe(0.5);
    expect(circuit.share(nowMs + 1_000)).toBe(1);
  });

  it("opens again after two failures in a row, with a longer pause", () => {
    nowMs += 100;
    times(2, fail);
    expect(state()).toBe("open");
    nowMs += 1_999;
    expect(state()).toBe("open");
    nowMs += 1;
    expect(state()).toBe("due");
  });

  it("stays closed for timeouts of calls that began before it closed", () => {
    times(10, () => circuit.failed(9_000, nowMs + 10, true));
    expect(state()).toBe("closed");
  });

  it("starts with the first pause again once recovered", () => {
    nowMs += 1_000;
    expect(circuit.share(nowMs)).toBe(1);
    times(5, fail);
    nowMs += 1_000;
    expect(state()).toBe("due");
  });
});

describe("a report of another gateway", () => {
  const word = (by: string) => ({
    by,
    pauseMs: 2_000,
    pauseEndMs: nowMs + 2_000,
    probeEndMs: 0,
  });
  const probe = () => {
    nowMs = circuit.nextProbeMs;
    expect(circuit.admit(nowMs)).toBe(true);
  };

  it("opens the circuit for the reported pause, and the next pause is twice that", () => {
    circuit.applyOpenReport(word("x"), nowMs);
    expect(state()).toBe("open");
    expect(circuit.nextProbeMs).toBe(nowMs + 2_000);
    expect(circuit.changes).toBe(0);
    probe();
    fail();
    expect(circuit.report(nowMs)).toEqual({ pauseMs: 4_000, leftMs: 4_000 });
    expect(circuit.changes).toBe(1);
  });

  it("is limited to our own longest pause and our own longest probe", () => {
    circuit.applyOpenReport({ by: "x", pauseMs: 1e12, pauseEndMs: 1e12, probeEndMs: 1e12 }, nowMs);
    expect(circuit.nextProbeMs).toBe(nowMs + rules.pauseMsMax);
    circuit.probedElsewhere(nowMs, 1e12);
    nowMs += rules.pauseMsMax;
    expect(state()).toBe("due");
  });

  it("delays our probe while another gateway probes, for at most the time of one probe", () => {
    circuit.applyOpenReport({ by: "x", pauseMs: 1, pauseEndMs: nowMs, probeEndMs: 1e12 }, nowMs);
    expect(circuit.admit(nowMs + rules.probeMs - 1)).toBe(false);
    expect(circuit.admit(nowMs + rules.probeMs)).toBe(true);
  });

  it("closes the circuit into recovery, and failures of earlier calls are ignored", () => {
    circuit.applyOpenReport(word("x"), nowMs);
    const begunMs = nowMs;
    nowMs += 100;
    circuit.applyClosedReport(nowMs);
    expect(state()).toBe("closed");
    expect(circuit.share(nowMs)).toBe(0.1);
    times(5, () => circuit.failed(begunMs, nowMs, true));
    expect(state()).toBe("closed");
  });

  it("is ignored from a gateway that our own probe contradicted, until one of our calls fails", () => {
    circuit.applyOpenReport(word("x"), nowMs);
    probe();
    succeed();
    circuit.applyOpenReport(word("x"), nowMs);
    expect(state()).toBe("closed");
    nowMs += 1_000;
    fail();
    expect(state()).toBe("open");
    expect(circuit.nextProbeMs).toBe(nowMs + 1_000);
  });

  it("is accepted from other gateways meanwhile, and forgotten when withdrawn or over", () => {
    circuit.applyOpenReport(word("x"), nowMs);
    probe();
    succeed();
    circuit.applyOpenReport(word("x"), nowMs);
    circuit.applyClosedReport(nowMs);
    fail();
    expect(state()).toBe("closed");
    succeed();
    circuit.applyOpenReport(word("y"), nowMs);
    expect(state()).toBe("open");
  });
});
