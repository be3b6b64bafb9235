import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { App } from './app.tsx'
import { createWagmi } from './chains.ts'
import { loadConfig } from './config.ts'
import { SurroundingsContext } from './context.ts'
import { createService } from './service.ts'
import './styles.css'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element #root.')

const config = await loadConfig()
if (import.meta.env.MODE === 'sandbox') {
  const { announceLocalAccounts } = await import('./local-account.ts')
  announceLocalAccounts(config)
}

// What is on the page is asked for again when somebody comes back to it, and not each time a part of it is shown.
const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 10_000 } } })

createRoot(root).render(
  <StrictMode>
    <SurroundingsContext value={{ config, service: createService(config) }}>
      <WagmiProvider config={createWagmi(config)}>
        <QueryClientProvider client={queries}>
          <App />
        </QueryClientProvider>
      </WagmiProvider>
    </SurroundingsContext>
  </StrictMode>,
)
