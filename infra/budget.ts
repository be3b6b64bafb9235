import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import type { Construct } from 'constructs'

type Settings = { readonly name: string; readonly monthlyUsd: number; readonly email: string }

/**
 * A budget of the whole account, whose mails AWS sends by itself (docs/runbooks/budget.md): when 80 % are spent, and when more
 * than all of it is expected to be. A filter by tags would count nothing before somebody activates them.
 */
export function addBudget(scope: Construct, { name, monthlyUsd, email }: Settings): void {
  const mailAt = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
    subscribers: [{ subscriptionType: 'EMAIL', address: email }],
  })
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: name,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyUsd, unit: 'USD' },
    },
    notificationsWithSubscribers: [mailAt('ACTUAL', 80), mailAt('FORECASTED', 100)],
  })
}
