"""What several devices send each other, before and after FP8 goes over the wire."""
