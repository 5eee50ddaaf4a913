/** The price of offers at Alibaba, which bills the whole output of a call that reasoned at one rate. docs/models.md "Prices". */
import { memoizeByObject } from "../base/memoize.ts";
import type { FixedPrice, Offer, Provider, TextRates } from "../catalog/index.ts";

interface Offered {
  readonly provider: Pick<Provider, "dialect">;
  readonly offer: Pick<Offer, "price">;
}

/** True if its rate of reasoning is for the whole output of a call that reasoned. */
export const billsModes = ({ dialect }: Pick<Provider, "dialect">): boolean =>
  dialect === "dashscope";

/** The price by which an answer of the offer is billed, the same object each time. */
export const billedPrice = ({ provider, offer: { price } }: Offered): FixedPrice =>
  billsModes(provider) && hasReasoning(price) ? withMode(price) : price;

const hasReasoning = ({ above = [], ...base }: FixedPrice): boolean =>
  [base, ...above.map(({ rates }) => rates)].some(({ reasoning }) => reasoning !== undefined);

const withMode = memoizeByObject((price: FixedPrice): FixedPrice => {
  const marked = <Rates extends TextRates>(rates: Rates) => ({ ...rates, reasoningIsMode: true });
  const above = price.above?.map((tier) => ({ ...tier, rates: marked(tier.rates) }));
  return { ...marked(price), above };
});
