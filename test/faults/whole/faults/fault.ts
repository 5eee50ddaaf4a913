/** The type of a fault, and helpers that several faults use. */
import { shortOrLong } from "../../../support/long.ts";
import type { Traffic } from "../traffic.ts";
import { gatewaysCount, type World } from "../world.ts";

export interface Fault {
  /** The name in the table of docs/reliability.md. */
  readonly name: string;
  readonly part: "gateways" | "database" | "vendors" | "files" | "receivers" | "clocks" | "callers";
  /** Resolves when the fault is over. */
  inject(world: World, traffic: Traffic): Promise<void>;
  /** True if no call may fail. */
  readonly noneFails?: boolean;
  /** True if tasks may end without a result, as when the vendor forgets them; a text: only with this error code. */
  readonly tasksFail?: boolean | string;
  /** True if it also runs in the short form. */
  readonly short?: boolean;
  /** True if it needs a disk that can be filled. */
  readonly needsDisk?: boolean;
}

/** How long most faults last, in milliseconds. */
export const faultMs = shortOrLong(2_000, 8_000);
export const longFaultMs = shortOrLong(3_000, 30_000);
/** The gateways by their numbers. */
export const all = Array.from({ length: gatewaysCount }, (_, at) => at);

/** A fault that lasts while a link is impaired. */
export const link =
  (name: keyof World["links"], hurt: (link: World["links"]["database"]) => void): Fault["inject"] =>
  async ({ links }, traffic) => {
    hurt(links[name]);
    await traffic.lasts(faultMs);
    links[name].heal();
  };
