/** The columns of the list of models. */
import { Checkbox } from "@mantine/core";
import { readCount, readDuration, readShare } from "../../base/numbers.ts";
import type { Column } from "../../ui/data-table.tsx";
import { ModelLink } from "../../ui/model-link.tsx";
import type { Model } from "./filters.ts";
import { headlineOf, isServing } from "./prices.ts";

const nothing = <span className="muted">-</span>;

function Providers({ offers }: Model) {
  const ids = [...new Set(offers.map(({ provider }) => provider))];
  return ids.map((id, index) => {
    const own = offers.filter(({ provider }) => provider === id);
    const word = own.some(isServing)
      ? ""
      : own.some(({ paused_until: paused }) => paused !== null)
        ? " paused"
        : " out";
    return (
      <span key={id}>
        {index > 0 && ", "}
        {id}
        {word !== "" && <span className="bad">{word}</span>}
      </span>
    );
  });
}

/** The lowest value among the offers; undefined without measurements. */
const least = (values: readonly (number | null | undefined)[]): number | undefined => {
  const known = values.filter((value) => value != null);
  return known.length === 0 ? undefined : Math.min(...known);
};

const firstToken = ({ offers }: Model): number | undefined =>
  least(offers.filter(isServing).map(({ health }) => health?.stream.first_token_ms));
const failures = ({ offers }: Model): number | undefined =>
  least(offers.map(({ health }) => health?.failure_share));

const perMille = 1000;
const shareText = (share: number) =>
  readShare(BigInt(Math.round(share * perMille)), BigInt(perMille));

function Price({ model, which }: { model: Model; which: "input" | "output" }) {
  const headline = headlineOf(model);
  const amount = headline[which];
  if (amount !== null)
    return (
      <>
        {headline.from && <span className="muted">from </span>}
        {amount}
      </>
    );
  const { other } = headline;
  if (which === "input" || other === null) return nothing;
  return (
    <>
      {headline.from && <span className="muted">from </span>}
      {other.amount} {other.per}
    </>
  );
}

const id = (isForKey: boolean): Column<Model> => ({
  header: "Model",
  phone: 1,
  cell: (model) => (
    <>
      <ModelLink id={model.id} title={model.name} />
      {!isForKey && !model.in_scope && <span className="muted"> not callable</span>}
    </>
  ),
});

interface Chosen {
  readonly ids: readonly string[];
  readonly isFull: boolean;
  readonly toggle: (id: string) => void;
}

const compare = ({ ids, isFull, toggle }: Chosen): Column<Model> => ({
  header: "Compare",
  width: 92,
  wide: true,
  cell: (model) => (
    <Checkbox
      size="xs"
      // Stacks above the row's link.
      style={{ position: "relative", zIndex: 1, width: "fit-content" }}
      aria-label={`Compare ${model.id}`}
      checked={ids.includes(model.id)}
      disabled={isFull && !ids.includes(model.id)}
      onChange={() => toggle(model.id)}
    />
  ),
});

export const columnsOf = (isForKey: boolean, chosen: Chosen): readonly Column<Model>[] => [
  id(isForKey),
  { header: "Kind", width: 90, wide: true, cell: ({ kind }) => kind },
  {
    header: "Context",
    width: 90,
    align: "right",
    wide: true,
    cell: ({ context_length: tokens }) => (tokens === undefined ? nothing : readCount(tokens)),
  },
  {
    header: "In (USD/M)",
    width: 100,
    align: "right",
    wide: true,
    phone: 2,
    phoneName: "in",
    cell: (model) => <Price model={model} which="input" />,
  },
  {
    header: "Out (USD/M)",
    width: 150,
    align: "right",
    phone: 2,
    phoneName: "out",
    cell: (model) => <Price model={model} which="output" />,
  },
  {
    header: "Providers",
    width: 220,
    wide: true,
    roomy: true,
    cell: (model) => <Providers {...model} />,
  },
  {
    header: "First token",
    width: 100,
    align: "right",
    wide: true,
    roomy: true,
    cell: (model) => {
      const ms = firstToken(model);
      return ms === undefined ? nothing : readDuration(ms);
    },
  },
  {
    header: "Fails",
    width: 70,
    align: "right",
    wide: true,
    cell: (model) => {
      const share = failures(model);
      return share === undefined ? nothing : shareText(share);
    },
  },
  compare(chosen),
];
