/** How a charge came about, for who looks at a call later: line by line, by the rule that charged it. docs/management.md. */
import { GatewayError } from "../base/errors.ts";
import type { NanoUsd } from "../base/money.ts";
import {
  priceLines,
  requestPart,
  sumOfParts,
  type PriceLine,
  type PricePart,
} from "../base/price-parts.ts";
import { noUsage, type Usage } from "../base/usage.ts";
import { usageParts, type Catalog, type FixedPrice, type MediaPrice } from "../catalog/index.ts";
import { mediaParts, type MediaUsage } from "../media/index.ts";

/** What the log keeps of a charge. */
interface Charged {
  readonly model: string | null;
  readonly provider: string | null;
  /** As the call was billed by it; null where nothing was made. */
  readonly usage: object | null;
  readonly costNano: NanoUsd;
  /** It is an answer of the response cache, charged as its key says. */
  readonly isRepeat: boolean;
}

/**
 * The lines of a charge; their amounts add up to it exactly. Prices are those in force now: where no offer of the provider
 * leads to the charge any more, the price of then is not known, and the answer is null.
 */
export function chargeLines(catalog: Catalog, charged: Charged): readonly PriceLine[] | null {
  const { model, provider, usage, costNano, isRepeat } = charged;
  if (isRepeat && costNano > 0n) return priceLines([requestPart("cached_answer", costNano)]);
  if (usage === null) return costNano === 0n ? [] : null;
  const offers = catalog.models.get(model ?? "")?.offers ?? [];
  for (const { price } of offers.filter((offer) => offer.provider === provider)) {
    const parts = partsOf(price, usage);
    if (parts !== undefined && sumOfParts(parts) === costNano) return priceLines(parts);
  }
  return null;
}

/** Undefined where the price is not one for such a usage, or has no rate for it any more. */
function partsOf(price: FixedPrice | MediaPrice, usage: object): readonly PricePart[] | undefined {
  if (!("basis" in price))
    return "unit" in usage ? undefined : usageParts(price, { ...noUsage, ...(usage as Usage) });
  if (!("unit" in usage) || unitOf(price) !== usage.unit) return undefined;
  try {
    return mediaParts(price, usage as MediaUsage);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The unit of the usage that a price is for. */
const unitOf = ({ basis }: MediaPrice): MediaUsage["unit"] =>
  basis === "image_tiers" ? "images" : basis;
