/** Entry point of the console: mounts the router in its providers. docs/console.md. */
import "@fontsource-variable/inter/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/high-contrast.css";
import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/client.ts";
import { router } from "./routes.ts";
import { cssVariablesResolver, theme } from "./theme/theme.ts";
import { keepFocus } from "./ui/keep-focus.ts";
import { noteOpened } from "./ui/opened.ts";
import { useIsPrinting } from "./ui/use-is-printing.ts";

/** The CSP nonce that lets only this page add styles. Browsers hide the attribute from scripts; only the property has it. */
const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
setNonce(nonce);

const dialogProps = { centered: true, closeButtonProps: { "aria-label": "Close" } };

function Console() {
  const isPrinting = useIsPrinting();
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      {...(isPrinting && { forceColorScheme: "light" as const })}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <ModalsProvider modalProps={dialogProps}>
          <RouterProvider router={router} />
        </ModalsProvider>
        <Notifications position="bottom-right" />
      </QueryClientProvider>
    </MantineProvider>
  );
}

noteOpened();
keepFocus();
createRoot(document.querySelector("#root")!).render(
  <StrictMode>
    <Console />
  </StrictMode>,
);
