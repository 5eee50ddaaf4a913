/** The console: everything it is wrapped in, put into the page. docs/console.md. */
import "@fontsource-variable/inter/wght.css";
import "@mantine/core/styles.css";
import "./theme/tokens.css";
import "./theme/base.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/client.ts";
import { router } from "./routes.ts";
import { cssVariablesResolver, theme } from "./theme/theme.ts";

/** What lets this page, and nobody else, add styles. A browser hides it from scripts of others, hence the property. */
const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
setNonce(nonce);

createRoot(document.querySelector("#root")!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
