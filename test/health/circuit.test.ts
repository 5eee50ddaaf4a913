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

describe("closed", () => {
  it("five failures in a row open it; four and a success do not", () => {
    times(4, fail);
    succeed();
    times(4, fail);
    expect(state()).toBe("closed");
    fail();
    expect(state()).toBe("open");
    expect(circuit.openedMs).toBe(nowMs);
  });

  it("three silent calls are enough", () => {
    times(2, () => fail(true));
    expect(state()).toBe("closed");
    fail(true);
    expect(state()).toBe("open");
  });

  it("half of the recent calls failing opens it, in whatever order they came", () => {
    times(4, () => {
      succeed();
      fail();
    });
    expect(state()).toBe("closed");
    succeed();
    fail();
    expect(state()).toBe("open");
  });

  it("one in five failing does not", () => {
    times(100, () => {
      times(4, succeed);
      fail();
    });
    expect(state()).toBe("closed");
    expect(circuit.failureShare(nowMs)).toBeCloseTo(0.2, 2);
  });

  it("what was long ago hardly counts", () => {
    times(100, succeed);
    nowMs += 20 * rules.halfLifeMs;
    times(4, fail);
    expect(circuit.failureShare(nowMs)).toBeGreaterThan(0.99);
  });
});

describe("open", () => {
  beforeEach(() => times(5, fail));

  it("after its pause one probe is admitted, and nobody else until it has ended", () => {
    expect(circuit.admit(nowMs + 999)).toBe(false);
    nowMs += 1_000;
    expect(state()).toBe("due");
    expect(circuit.admit(nowMs)).toBe(true);
    expect(circuit.admit(nowMs)).toBe(false);
    expect(state()).toBe("open");
  });

  it("is being probed only from the probe's beginning to its end or its failure", () => {
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

  it("many calls that fail beside the probe make its pause no longer than one does", () => {
    nowMs += 1_000;
    circuit.admit(nowMs);
    const begunMs = nowMs;
    nowMs += 10;
    times(20, () => circuit.failed(begunMs, nowMs, false));
    nowMs += 2_000;
    expect(state()).toBe("due");
  });

  it("a probe that fails begins the next pause, twice as long, up to the longest", () => {
    for (const pauseMs of [1_000, 2_000, 4_000, 4_000]) {
      nowMs += pauseMs - 1;
      expect(state()).toBe("open");
      nowMs += 1;
      expect(circuit.admit(nowMs)).toBe(true);
      fail();
      expect(state()).toBe("open");
    }
  });

  it("a probe that never ends keeps the next one away for its time only", () => {
    nowMs += 1_000;
    expect(circuit.admit(nowMs)).toBe(true);
    nowMs += 500;
    expect(circuit.admit(nowMs)).toBe(true);
  });

  it("a probe that says nothing leaves its turn to the next", () => {
    nowMs += 1_000;
    expect(circuit.admit(nowMs)).toBe(true);
    circuit.undecided(nowMs);
    expect(circuit.admit(nowMs)).toBe(true);
  });

  it("calls from before the probe, whose clients leave meanwhile, let no other probe go beside it", () => {
    const begunMs = nowMs - 1;
    nowMs += 1_000;
    expect(circuit.admit(nowMs)).toBe(true);
    nowMs += 10;
    times(20, () => circuit.undecided(begunMs));
    expect(circuit.isProbed(nowMs)).toBe(true);
    expect(circuit.admit(nowMs)).toBe(false);
  });

  it("calls that began before it opened neither close it nor make its pause longer", () => {
    circuit.succeeded(nowMs - 1, nowMs);
    expect(state()).toBe("open");
    nowMs += 1_000;
    times(10, () => circuit.failed(5_000, nowMs, true));
    expect(state()).toBe("due");
  });

  it("a call that had nowhere else to go closes it as well as a probe", () => {
    nowMs += 10;
    succeed();
    expect(state()).toBe("closed");
  });

  it("failures of calls that had nowhere else to go do not push its pause away", () => {
    nowMs += 500;
    times(50, fail);
    nowMs += 500;
    expect(state()).toBe("due");
  });
});

describe("recovering", () => {
  beforeEach(() => {
    times(5, fail);
    nowMs += 1_000;
    circuit.admit(nowMs);
    succeed();
  });

  it("its share grows from a tenth to all", () => {
    expect(circuit.share(nowMs)).toBe(0.1);
    expect(circuit.share(nowMs + 500)).toBe(0.5);
    expect(circuit.share(nowMs + 1_000)).toBe(1);
  });

  it("two failures in a row open it again, and its pause has grown", () => {
    nowMs += 100;
    times(2, fail);
    expect(state()).toBe("open");
    nowMs += 1_999;
    expect(state()).toBe("open");
    nowMs += 1;
    expect(state()).toBe("due");
  });

  it("what timed out meanwhile, and began before it closed, does not open it again", () => {
    times(10, () => circuit.failed(9_000, nowMs + 10, true));
    expect(state()).toBe("closed");
  });

  it("once it has recovered, its next pause is a first one", () => {
    nowMs += 1_000;
    expect(circuit.share(nowMs)).toBe(1);
    times(5, fail);
    nowMs += 1_000;
    expect(state()).toBe("due");
  });
});

describe("what other gateways say", () => {
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

  it("opens it for the pause they found, and the next pause is twice that", () => {
    circuit.applyOpenReport(word("x"), nowMs);
    expect(state()).toBe("open");
    expect(circuit.nextProbeMs).toBe(nowMs + 2_000);
    expect(circuit.changes).toBe(0);
    probe();
    fail();
    expect(circuit.report(nowMs)).toEqual({ pauseMs: 4_000, leftMs: 4_000 });
    expect(circuit.changes).toBe(1);
  });

  it("keeps it open no longer than our own longest pause, and a probe elsewhere no longer than one of ours", () => {
    circuit.applyOpenReport({ by: "x", pauseMs: 1e12, pauseEndMs: 1e12, probeEndMs: 1e12 }, nowMs);
    expect(circuit.nextProbeMs).toBe(nowMs + rules.pauseMsMax);
    circuit.probedElsewhere(nowMs, 1e12);
    nowMs += rules.pauseMsMax;
    expect(state()).toBe("due");
  });

  it("waits for a probe that is under way elsewhere when it hears of it, no longer than for one of ours", () => {
    circuit.applyOpenReport({ by: "x", pauseMs: 1, pauseEndMs: nowMs, probeEndMs: 1e12 }, nowMs);
    expect(circuit.admit(nowMs + rules.probeMs - 1)).toBe(false);
    expect(circuit.admit(nowMs + rules.probeMs)).toBe(true);
  });

  it("closes it into recovery, and a call that began before says nothing of it", () => {
    circuit.applyOpenReport(word("x"), nowMs);
    const begunMs = nowMs;
    nowMs += 100;
    circuit.applyClosedReport(nowMs);
    expect(state()).toBe("closed");
    expect(circuit.share(nowMs)).toBe(0.1);
    times(5, () => circuit.failed(begunMs, nowMs, true));
    expect(state()).toBe("closed");
  });

  it("is not believed of a gateway that our own probe contradicted, until a call of our own fails", () => {
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

  it("is believed of the others meanwhile, and forgotten where its pause is over or it was taken back", () => {
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
