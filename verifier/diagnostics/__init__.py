"""What people are told: codes, findings, pictures as data, explain pages."""
