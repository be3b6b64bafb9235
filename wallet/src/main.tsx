import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { App } from './app.tsx'
import { createWagmi } from './chains.ts'
import { loadConfig } from './config.ts'
import { AppContext } from './context.ts'
import { computeRetryPause } from './problems.ts'
import { createQueries } from './queries.ts'
import { createService } from './service.ts'
import './styles.css'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element #root.')

let config = await loadConfig()
let Content = App
if (import.meta.env.MODE === 'sandbox') {
  const { showPreparedState } = await import('./sandbox/prepared-state.ts')
  const { announceLocalAccounts } = await import('./sandbox/local-account.ts')
  config = await showPreparedState(config)
  announceLocalAccounts(config)
  const { announceLocalSolana } = await import('./sandbox/local-solana.ts')
  announceLocalSolana(config)
  if (window.location.pathname.startsWith('/sandbox')) {
    Content = (await import('./sandbox/sandbox-pages.tsx')).SandboxPages
  }
}

createRoot(root).render(
  <StrictMode>
    <AppContext value={{ config, service: createService(config) }}>
      <WagmiProvider config={createWagmi(config)}>
        <QueryClientProvider client={createQueries(computeRetryPause)}>
          <Content />
        </QueryClientProvider>
      </WagmiProvider>
    </AppContext>
  </StrictMode>,
)
