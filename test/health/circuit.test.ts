/** When a circuit opens, probes, closes and recovers, moment by moment. docs/routing.md. */
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
    circuit.undecided();
    expect(circuit.admit(nowMs)).toBe(true);
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
