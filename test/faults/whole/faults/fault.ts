/** One fault, and what several are made of. */
import { inForm } from "../../../support/long.ts";
import type { Traffic } from "../traffic.ts";
import { gatewaysCount, type World } from "../world.ts";

export interface Fault {
  /** As the table of docs/reliability.md has it. */
  readonly name: string;
  readonly part: "gateways" | "database" | "vendors" | "files" | "receivers" | "clocks" | "callers";
  /** Resolves when the fault is over. */
  inject(world: World, traffic: Traffic): Promise<void>;
  /** Not one call may fail. */
  readonly noneFails?: boolean;
  /** Tasks may end without a result, as where the vendor forgets them; a text: with this code alone. */
  readonly tasksFail?: boolean | string;
  /** Also in the short form. */
  readonly short?: boolean;
  /** Needs a disk that can be filled. */
  readonly needsDisk?: boolean;
}

/** How long most faults last. */
export const standMs = inForm(2_000, 8_000);
export const longStandMs = inForm(3_000, 30_000);
/** The gateways by their numbers. */
export const all = Array.from({ length: gatewaysCount }, (_, at) => at);

/** While a link is hurt. */
export const link =
  (name: keyof World["links"], hurt: (link: World["links"]["database"]) => void): Fault["inject"] =>
  async ({ links }, traffic) => {
    hurt(links[name]);
    await traffic.lasts(standMs);
    links[name].heal();
  };
