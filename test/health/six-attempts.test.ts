/** One call makes six attempts for a model at most, also if a provider whose probe is in flight is tried last. docs/routing.md. */
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { GatewayError } from "../../src/base/errors.ts";
import {
  AttemptFailure,
  Failover,
  type Attempt,
  type Candidate,
} from "../../src/attempts/index.ts";
import { Health, openScope } from "../../src/routing/index.ts";
import { price, textRow } from "../calls/support.ts";
import { catalogIn } from "../support/config-text.ts";

const credentials = Array.from(
  { length: 8 },
  (_, index) => `{ id: c${index}, api_key: key-${index} }`,
);
const catalog = catalogIn(
  [
    "providers:",
    ...["many", "probed"].map(
      (id) =>
        `  - { id: ${id}, dialect: openai-compatible, base_url: "https://${id}.example.com/v1", credentials: [${credentials.join(", ")}] }`,
    ),
    "models:",
    textRow(
      "acme/one",
      ["many", "probed"].map((id) => `provider: ${id}, protocol: chat, ${price("1")}`),
    ),
  ].join("\n"),
);
const candidates: Candidate[] = catalog.models.get("acme/one")!.offers.map((offer) => ({
  offer,
  provider: catalog.providers.get(offer.provider)!,
  model: "acme/one",
}));

const record = () => ({
  id: "req_1",
  beganMs: 0,
  model: "acme/one",
  attempts: [] as Attempt[],
  provider: null,
});
const callOf = (health: Health) => ({
  services: { catalog: () => catalog, health, log: silentLog },
  constraints: openScope,
  record: record(),
  reply: { gone: false },
});

/** Every provider refuses every credential. */
class Refused extends Failover<
  ReturnType<typeof callOf>,
  Candidate,
  Candidate,
  { status: number },
  string
> {
  protected candidate = (_call: unknown, planned: Candidate) => planned;
  protected ask = async () => ({ status: 401 });
  protected read = () =>
    Promise.reject(
      new AttemptFailure({
        error: new GatewayError("upstream_error", "It refused the key."),
        outcome: "401",
        allowsFailover: true,
        health: { hurtsHealth: false, credential: { of: "credential" } },
      }),
    );
  protected failureOf = (thrown: unknown) => thrown as AttemptFailure;
  protected speed = () => undefined;
}

it.each([
  ["last", candidates],
  ["first", candidates.toReversed()],
])(
  "a probed provider that is planned %s gets the last of the six attempts",
  async (_place, planned) => {
    let nowMs = 0;
    const health = new Health({ clock: { now: () => 0 }, nowMs: () => nowMs, random: () => 0 });
    const { offer, provider } = candidates[1]!;
    const begun = { offer, provider, credential: provider.credentials[0]!, begunMs: 0 };
    for (let count = 0; count < 5; count += 1) health.unanswered(begun, { hurtsHealth: true });
    nowMs = 6_000;
    expect(health.admit(offer, provider)).toBe(true);
    const call = callOf(health);
    await expect(new Refused().answer(call, planned)).rejects.toThrow(AttemptFailure);
    const asked = call.record.attempts.map((one) => one.provider);
    expect(asked).toEqual([...Array<string>(5).fill("many"), "probed"]);
  },
);
