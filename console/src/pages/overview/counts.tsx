/** The exact billing counts of the period: to compare a bill with the vendors' invoices. */
import { Title } from "@mantine/core";
import { countNames, CountsTable } from "../../ui/counts-table.tsx";
import type { Total } from "./tiles.tsx";

export function Counts({ total }: { total: Total }) {
  const counts = Object.fromEntries(
    countNames.filter((name) => total[name] > 0).map((name) => [name, total[name]]),
  );
  if (Object.keys(counts).length === 0) return null;
  return (
    <section aria-label="Counts">
      <Title order={2} size="h4" mb="sm">
        Counts
      </Title>
      <CountsTable label="Counts" counts={counts} />
    </section>
  );
}
