/** Links from a call's page to its list, and to the previous and next call there, by button and keyboard. */
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { client } from "../../../api/client.ts";
import { usePageKeys } from "../../../ui/shortcuts.ts";
import { conditionsOf, inPeriod, type Filters } from "../filters.ts";

/** The calls next to one, in the list with these filters. */
const useNeighbours = (id: string, list: Filters, enabled: boolean) =>
  useQuery({
    queryKey: ["get", "/admin/v1/requests/{id}/neighbours", id, list],
    enabled,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: conditionsOf(inPeriod(list)) };
      return (await client.GET("/admin/v1/requests/{id}/neighbours", { params, signal })).data!;
    },
  });

const small = { size: "xs", variant: "default" } as const;

interface StepProps {
  readonly label: string;
  readonly to: string | null | undefined;
  readonly list: Filters;
}

/** A link to another call; Back still leads to the list. */
const Step = ({ label, to, list }: StepProps) =>
  to == null ? (
    <Button {...small} disabled>
      {label}
    </Button>
  ) : (
    <Button
      {...small}
      renderRoot={(props) => (
        <Link to="/requests/$id" params={{ id: to }} search={list} replace {...props} />
      )}
    >
      {label}
    </Button>
  );

interface NeighbourLinksProps {
  readonly id: string;
  readonly list: Filters;
  /** A call that is not in the log has no neighbours. */
  readonly isKnown: boolean;
}

export function NeighbourLinks({ id, list, isKnown }: NeighbourLinksProps) {
  const { data } = useNeighbours(id, list, isKnown);
  const navigate = useNavigate();
  const go = (to: string | null | undefined) => () => {
    if (to != null)
      void navigate({ to: "/requests/$id", params: { id: to }, search: list, replace: true });
  };
  const [next, previous] = [go(data?.next), go(data?.previous)];
  usePageKeys([
    { key: "j", what: "To the next call", act: next },
    { key: "k", what: "To the previous call", act: previous },
    { key: "]", what: "To the next call", act: next },
    { key: "[", what: "To the previous call", act: previous },
  ]);
  return (
    <Group gap="sm">
      <Button {...small} renderRoot={(props) => <Link to="/requests" search={list} {...props} />}>
        List
      </Button>
      <Step label="Previous" to={data?.previous} list={list} />
      <Step label="Next" to={data?.next} list={list} />
    </Group>
  );
}
