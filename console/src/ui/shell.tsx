/** What surrounds every page inside: menu, workspace switch, who reads, the colour scheme, signing out. */
import { AppShell, Burger, Button, Group, NavLink, Select, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Outlet, useNavigate, useRouterState, useSearch } from "@tanstack/react-router";
import { api, client, queryClient } from "../api/client.ts";
import { mayOwn } from "../base/rights.ts";
import { SchemeSwitch } from "./scheme-switch.tsx";

/** The menu, in its order; an entry is there for whoever may use its page. */
const entries = [
  { to: "/start", label: "Start", action: "key.read" },
  { to: "/requests", label: "Requests", action: "request.read" },
  { to: "/keys", label: "Keys", action: "key.read" },
] as const;

function WorkspaceSwitch() {
  const { ws } = useSearch({ from: "/shell" });
  const navigate = useNavigate();
  const { data } = api.useQuery("get", "/admin/v1/workspaces", {
    params: { query: { limit: "100" } },
  });
  const workspaces = data?.data ?? [];
  if (workspaces.length < 2) return <Text fw={500}>{workspaces[0]?.name ?? ""}</Text>;
  return (
    <Select
      aria-label="Workspace"
      searchable
      value={ws ?? ""}
      data={[
        { value: "", label: "All workspaces" },
        ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={(value) =>
        void navigate({ to: ".", search: (before) => ({ ...before, ws: value || undefined }) })
      }
    />
  );
}

async function signOut() {
  await client.POST("/auth/sign-out");
  queryClient.clear();
  location.assign("/sign-in");
}

export function Shell() {
  const [open, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !open } }}
      padding="xl"
    >
      <AppShell.Header px="lg">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Text fw={650}>Tollgate</Text>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm" className="cut" visibleFrom="sm">
              {me?.name}
            </Text>
            <SchemeSwitch />
            <Button size="xs" variant="default" onClick={() => void signOut()}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="md" bg="var(--sunken)" aria-label="Pages">
        <WorkspaceSwitch />
        {entries
          .filter(({ action }) => me !== undefined && mayOwn(me.rights, action))
          .map(({ to, label }) => (
            <NavLink
              key={to}
              mt="xs"
              label={label}
              active={path.startsWith(to)}
              renderRoot={(props) => (
                <Link to={to} search={({ ws }) => ({ ws })} onClick={close} {...props} />
              )}
            />
          ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
