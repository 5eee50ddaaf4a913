/** The shell around every signed-in page: menu, workspace switch, user, colour scheme, sign-out. */
import { Anchor, AppShell, Button, Group, NavLink, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { modals } from "@mantine/modals";
import { Link, Outlet, useRouter, useRouterState, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { isSignInNeeded, watchSignIn } from "../api/reauth.ts";
import { api, client, queryClient } from "../api/client.ts";
import { mayAll, mayOwn } from "../base/rights.ts";
import { BottomBar } from "./bottom-bar.tsx";
import { Busy } from "./busy.tsx";
import { Jump } from "./jump.tsx";
import { entries } from "./menu.ts";
import { ProviderBanner } from "./provider-banner.tsx";
import { SchemeSwitch } from "./scheme-switch.tsx";
import { RegionError } from "./region-error.tsx";
import { Stale } from "./stale.tsx";
import { notifyError } from "./undo.tsx";
import classes from "./shell.module.css";
import icon from "../theme/icon.svg";
import { WorkspaceLine, WorkspaceSwitch } from "./workspace-switch.tsx";
import { useWorkspaces } from "./workspaces.ts";
import { ZoneSwitch } from "./zone-switch.tsx";

const SignInDialog = lazy(async () => ({
  default: (await import("./sign-in-dialog.tsx")).SignInDialog,
}));

async function signOut() {
  try {
    await client.POST("/auth/sign-out");
  } catch (error) {
    notifyError("You are not signed out.", error);
    return;
  }
  queryClient.clear();
  location.assign("/sign-in");
}

interface HeaderProps {
  readonly name: string | undefined;
  readonly pages: readonly (typeof entries)[number][];
}

function Header({ name, pages }: HeaderProps) {
  return (
    <Group h="100%" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap">
        <img src={icon} alt="" width={20} height={20} />
        <Text fw={650} visibleFrom="sm">
          Tollgate
        </Text>
      </Group>
      <Group gap="sm" wrap="nowrap" miw={0}>
        <div className={classes["notices"]}>
          <Busy />
          <Stale />
        </div>
        <ProviderBanner />
        <Anchor
          size="sm"
          className="cut"
          renderRoot={(props) => (
            <Link to="/account" search={({ ws }) => ({ ws })} title="Account" {...props} />
          )}
        >
          {name}
        </Anchor>
        <Jump pages={pages} signOut={() => void signOut()} />
        <ZoneSwitch />
        <SchemeSwitch />
        <Button size="xs" variant="default" flex="none" onClick={() => void signOut()}>
          Sign out
        </Button>
      </Group>
    </Group>
  );
}

/** Shows why the workspaces could not be read: a page about one would be empty without explanation. */
function WorkspacesError() {
  const { error, refetch } = useWorkspaces();
  return error !== null && <RegionError what="workspaces" error={error} retry={refetch} />;
}

/** The URL may name a deleted workspace, or one of other users: empty pages would suggest that it had no calls. */
function NoSuchWorkspace() {
  const { ws } = useSearch({ from: "/shell" });
  const { rows, isCut } = useWorkspaces();
  if (ws === undefined || rows === undefined || isCut || rows.some(({ id }) => id === ws))
    return null;
  return (
    <Text component="output" display="block" mb="md" style={{ overflowWrap: "anywhere" }}>
      The workspace of this address, <span className="mono">{ws}</span>, does not exist, or you may
      not see it.{" "}
      <Link to="." search={(before) => ({ ...before, ws: undefined })}>
        Show the workspaces you may see
      </Link>
    </Text>
  );
}

/** Closes a page's dialogs on navigation: after Back, no question about another page stays. */
function useCloseDialogsOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onBeforeNavigate", ({ pathChanged }) => {
        if (pathChanged) modals.closeAll();
      }),
    [router],
  );
}

/** Another tab may have signed in another user: this tab then reloads, so that the new user sees no data of the previous one. */
function useReloadOnUserChange(id: string | null | undefined): void {
  const [first, setFirst] = useState(id);
  if (first === undefined && id !== undefined) setFirst(id);
  const isAnother = first !== undefined && id !== undefined && id !== first;
  useEffect(() => {
    if (isAnother) location.assign("/");
  }, [isAnother]);
}

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const mustSignIn = useSyncExternalStore(watchSignIn, isSignInNeeded);
  useCloseDialogsOnNavigation();
  useReloadOnUserChange(me?.user_id);
  const shown = entries.filter(
    (entry) => me !== undefined && ("all" in entry ? mayAll : mayOwn)(me.rights, entry.action),
  );
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      footer={{ height: { base: 56, sm: 0 } }}
      padding={{ base: "md", sm: "xl" }}
    >
      <AppShell.Header px="lg">
        <Header name={me?.name} pages={shown} />
      </AppShell.Header>
      <AppShell.Navbar p="md" bg="var(--sunken)" aria-label="Pages">
        <WorkspaceSwitch />
        {shown.map(({ to, label }) => (
          <NavLink
            key={to}
            mt="xs"
            className={classes["entry"]}
            label={label}
            active={path.startsWith(to)}
            renderRoot={(props) => (
              <Link to={to} search={({ ws }) => ({ ws })} onClick={close} {...props} />
            )}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <WorkspacesError />
        <NoSuchWorkspace />
        <WorkspaceLine />
        <Outlet />
      </AppShell.Main>
      <BottomBar shown={shown} isOpen={isOpen} toggle={toggle} close={close} />
      {mustSignIn && me !== undefined && (
        <Suspense>
          <SignInDialog userId={me.user_id} email={me.name} />
        </Suspense>
      )}
    </AppShell>
  );
}
