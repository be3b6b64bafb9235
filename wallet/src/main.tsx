import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { App } from './app.tsx'
import { createWagmi } from './chains.ts'
import { loadConfig } from './config.ts'
import { SurroundingsContext } from './context.ts'
import { mayPass } from './problems.ts'
import { createQueries } from './queries.ts'
import { createService } from './service.ts'
import './styles.css'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element #root.')

const config = await loadConfig()
if (import.meta.env.MODE === 'sandbox') {
  const { announceLocalAccounts } = await import('./local-account.ts')
  announceLocalAccounts(config)
}

createRoot(root).render(
  <StrictMode>
    <SurroundingsContext value={{ config, service: createService(config) }}>
      <WagmiProvider config={createWagmi(config)}>
        <QueryClientProvider client={createQueries(mayPass)}>
          <App />
        </QueryClientProvider>
      </WagmiProvider>
    </SurroundingsContext>
  </StrictMode>,
)
