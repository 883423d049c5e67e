// The whole page: providers, the sign-in outside the shell, everything else inside it.
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect } from "react";
import { Route, Router, Switch } from "wouter";
import { onSignedOut } from "./api/client";
import { watchConnection } from "./api/reconnect";
import { forgetSession } from "./api/session";
import { onTabs } from "./api/tabs";
import { queryClient } from "./api/useApi";
import { SignedInRoutes } from "./routes";
import { SessionGate } from "./shell/SessionGate";
import { Shell } from "./shell/Shell";
import { Toasts } from "./ui/Toasts";
import { ConfirmProvider } from "./ui/useConfirm";
import { BASE, navigate } from "./url";

const LoginPage = lazy(() => import("./pages/login/LoginPage"));
const LogoutPage = lazy(() => import("./pages/login/LogoutPage"));

export function App() {
  useEffect(() => onSignedOut(sessionOver), []);
  useEffect(() => onTabs((word) => word === "signed-out" && sessionOver()), []);
  useEffect(() => watchConnection(() => !isAtSignIn()), []);
  return (
    <QueryClientProvider client={queryClient}>
      <Router base={BASE}>
        <ConfirmProvider>
          <Suspense fallback={null}>
            <Switch>
              <Route path="/login" component={LoginPage} />
              <Route path="/logout" component={LogoutPage} />
              <Route>
                <SessionGate>
                  <Shell>
                    <SignedInRoutes />
                  </Shell>
                </SessionGate>
              </Route>
            </Switch>
          </Suspense>
          <Toasts />
        </ConfirmProvider>
      </Router>
    </QueryClientProvider>
  );
}

function sessionOver(): void {
  if (isAtSignIn()) return;
  toLogin();
  forgetSession();
}

function isAtSignIn(): boolean {
  const { pathname } = window.location;
  return pathname === `${BASE}/login` || pathname === `${BASE}/logout`;
}

function toLogin(): void {
  const { pathname, search, hash } = window.location;
  const here = pathname.slice(BASE.length) + search + hash;
  navigate(here === "/" || here === "" ? "/login" : `/login?redirect=${encodeURIComponent(here)}`, { replace: true });
}
