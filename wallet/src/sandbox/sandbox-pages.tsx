import { Route, Switch } from 'wouter'
import { ControlRoom } from './control-room.tsx'
import { AddressPage, TransactionPage } from './explorer.tsx'
import './room.css'

/** Pages that exist only in the sandbox: its controls beside the wallet, and an explorer of its chains. */
export function SandboxPages() {
  return (
    <Switch>
      <Route path="/sandbox/explorer/:chainId/tx/:hash">
        {({ chainId, hash }) => <TransactionPage chainId={Number(chainId)} hash={hash as `0x${string}`} />}
      </Route>
      <Route path="/sandbox/explorer/:chainId/address/:address">
        {({ chainId, address }) => <AddressPage chainId={Number(chainId)} address={address as `0x${string}`} />}
      </Route>
      <Route component={ControlRoom} />
    </Switch>
  )
}
